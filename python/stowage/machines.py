"""The machine a step runs on: memory, and the links between the device and the host."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import _core
from .documents import Document
from .sizes import Size, bytes_of, readable_bytes


class Machine(Document):
    """A machine's file, `stowage.machine`."""

    def __init__(self, content: str | dict[str, Any]):
        """From a file's content. Raises InputError with the path of the key that is wrong."""
        super().__init__(_core.machine(content if isinstance(content, str) else json.dumps(content)))

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Machine:
        return cls(Path(file).read_text())

    @classmethod
    def of(
        cls, name: str, device: Size, host: Size, h2d: float, d2h: float | None = None, latency_ns: int = 10_000
    ) -> Machine:
        """From memory sizes and what the links carry, in bytes a second."""
        device, host = bytes_of(device), bytes_of(host)
        links = {
            "h2d": {"bytes_per_second": int(h2d), "latency_ns": latency_ns},
            "d2h": {"bytes_per_second": int(d2h or h2d), "latency_ns": latency_ns},
        }
        return cls(
            {
                "format": "stowage.machine",
                "version": 1,
                "name": name,
                "device": {"memory_bytes": device},
                "host": {"memory_bytes": host, "pinned_limit_bytes": host},
                "links": links,
            }
        )

    @property
    def name(self) -> str:
        return self._data["name"]

    @property
    def device_bytes(self) -> int:
        return self._data["device"]["memory_bytes"]

    def __repr__(self) -> str:
        rate = readable_bytes(self._data["links"]["h2d"]["bytes_per_second"])
        return f"Machine({self.name!r}: {readable_bytes(self.device_bytes)} on the device, {rate}/s to it)"
