"""What the files of Stowage have in common: a JSON text that the core has read, checked and completed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Document:
    """Immutable. Two documents are equal if their files would be."""

    def __init__(self, text: str):
        self._text = text
        self._data: dict[str, Any] = json.loads(text)

    def to_json(self) -> str:
        """The file's content."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """The file's content, as a copy to work with."""
        return json.loads(self._text)

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes the file beside its place and renames it into it: it is never half of itself."""
        target = Path(file)
        beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        beside.write_text(self._text)
        beside.replace(target)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._data == self._data

    def __hash__(self) -> int:
        return hash(self._text)
