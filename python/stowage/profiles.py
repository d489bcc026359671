"""What one training step of a model costs, block by block, when nothing is dropped or moved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .documents import Document
from .sizes import readable_bytes, readable_nanos
from .tables import html_table

if TYPE_CHECKING:
    import pandas


class Profile(Document):
    """A profile's file, `stowage.profile`. Made by `stowage.profile(model, step)`, or read from a file."""

    def __init__(self, content: str | dict[str, Any]):
        """From a file's content. Raises InputError with the path of the key that is wrong."""
        answer = json.loads(_core.profile(content if isinstance(content, str) else json.dumps(content)))
        super().__init__(json.dumps(answer["profile"], indent=2))
        self.digest: str = answer["digest"]
        self.warnings: list[str] = []  # what the measurement found that a profile cannot say

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Profile:
        return cls(Path(file).read_text())

    @property
    def name(self) -> str:
        return self._data["name"]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """One entry a block, equal ones in a row expanded. A copy."""
        return [block for row in self.to_dict()["blocks"] for block in [row] * row.get("count", 1)]

    def to_pandas(self) -> pandas.DataFrame:
        """A row a block: times and bytes."""
        import pandas

        columns = ("name", "group", "forward_ns", "backward_ns", "input_bytes", "weight_bytes", "gradient_bytes")
        rows = [{**{c: block.get(c) for c in columns}, "saved_bytes": saved_bytes(block)} for block in self.blocks]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        blocks = self.blocks
        times = sum(block["forward_ns"] + block["backward_ns"] for block in blocks)
        saved = sum(saved_bytes(block) for block in blocks)
        return f"Profile({self.name!r}: {len(blocks)} blocks, {readable_nanos(times)}, saving {readable_bytes(saved)})"

    def _repr_html_(self) -> str:
        head = ["block", "group", "forward", "backward", "saved", "weights"]
        rows = [
            [
                block["name"],
                block.get("group") or "",
                readable_nanos(block["forward_ns"]),
                readable_nanos(block["backward_ns"]),
                readable_bytes(saved_bytes(block)),
                readable_bytes(block.get("weight_bytes", 0)),
            ]
            for block in self.blocks
        ]
        return html_table(f"Profile of {self.name}", head, rows)


def saved_bytes(block: dict[str, Any]) -> int:
    """What autograd keeps of the block's forward; tensors of one storage count once."""
    largest: dict[object, int] = {}
    for position, tensor in enumerate(block.get("saved", [])):
        storage = tensor.get("storage", position)
        largest[storage] = max(largest.get(storage, 0), tensor["bytes"])
    return sum(largest.values())
