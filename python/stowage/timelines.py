"""What happened, or would happen, in one training step."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .documents import Document
from .sizes import readable_bytes, readable_nanos
from .tables import html_table

if TYPE_CHECKING:
    import pandas


class Timeline(Document):
    """A timeline's file, `stowage.timeline`: spans on lanes, memory curves, stalls."""

    def __init__(self, content: str | dict[str, Any]):
        text = content if isinstance(content, str) else json.dumps(content)
        _core.csv([text])  # reads it strictly
        super().__init__(text)

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Timeline:
        return cls(Path(file).read_text())

    @property
    def step_ns(self) -> int:
        return self._data["step_ns"]

    @property
    def compute_ns(self) -> int:
        return self._data["compute_ns"]

    @property
    def spans(self) -> list[dict[str, Any]]:
        return self.to_dict()["spans"]

    def peak_bytes(self) -> int:
        return max((sample["bytes"] for sample in self._data["memory"]["device"]), default=0)

    def to_chrome(self) -> str:
        """A Chrome trace, which https://ui.perfetto.dev opens."""
        return chrome_trace([self])

    def to_pandas(self) -> pandas.DataFrame:
        """The rows of `stowage export`: spans, stalls and memory."""
        import pandas

        rows = list(csv.DictReader(io.StringIO(_core.csv([self.to_json()]))))
        frame = pandas.DataFrame(rows)
        numbers = ["timeline", "block", "storage", "begin_ns", "end_ns", "bytes"]
        frame[numbers] = frame[numbers].apply(pandas.to_numeric).astype("Int64")
        return frame

    def __repr__(self) -> str:
        return f"Timeline({self._data['source']}, {readable_nanos(self.step_ns)}, {readable_bytes(self.peak_bytes())})"

    def _repr_html_(self) -> str:
        rows = [
            [span["lane"], span["step"], span.get("block", ""), readable_nanos(span["begin_ns"]),
             readable_nanos(span["end_ns"] - span["begin_ns"]), readable_bytes(span.get("bytes", 0))]
            for span in self.spans
        ]  # fmt: skip
        return html_table(repr(self), ["lane", "step", "block", "begins at", "takes", "moves"], rows)


def chrome_trace(timelines: Iterable[Timeline]) -> str:
    """Several timelines on one time axis."""
    return _core.chrome([timeline.to_json() for timeline in timelines])
