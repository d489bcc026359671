"""What to do: settings as people know them, and plans, which decide for each block."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from . import _core
from .documents import Document
from .profiles import Profile
from .sizes import bytes_of


@dataclass(frozen=True)
class Settings:
    """A handful of numbers that decide for all blocks at once; README.md says what each means."""

    policy: Literal["keep", "recompute", "offload", "recompute+offload"] = "keep"
    interval: int = 1
    stride: int | None = None
    segmenting: Literal["contiguous", "every-nth"] = "contiguous"
    scope: Literal["attention", "ffn"] | None = None
    swap_blocks: int = 0
    swap_which: Literal["last", "first", "spread"] = "last"
    swap_mode: Literal["h2d", "two-way"] = "h2d"
    prefetch: int = 1
    h2d_streams: int = 1
    d2h_streams: int = 1
    max_buckets: int | None = None
    pinned_max_bytes: int | None = None

    @classmethod
    def parse(cls, flags: str) -> Settings:
        """From flags of the command line, such as a frontier names: "--policy recompute --interval 2"."""
        words = shlex.split(flags)
        values: dict[str, Any] = {}
        for flag, value in zip(words[::2], words[1::2], strict=True):
            key = flag.removeprefix("--").replace("-", "_")
            if key == "pinned_max":
                values["pinned_max_bytes"] = bytes_of(value)
            else:
                values[key] = int(value) if value.isdigit() else value
        return cls(**values)

    def plan(self, profile: Profile) -> Plan:
        """Expanded for the blocks of a profile. Raises InputError where settings contradict themselves."""
        answer = json.loads(_core.expand(json.dumps(asdict(self)), profile.to_json()))
        return Plan(json.dumps(answer["plan"]), profile, answer["warnings"])


class Plan(Document):
    """A plan's file, `stowage.plan`, and the profile that it is for."""

    def __init__(self, content: str | dict[str, Any], profile: Profile, warnings: list[str] | None = None):
        """From a file's content. Raises InputError where it contradicts itself or is not for this profile."""
        text = content if isinstance(content, str) else json.dumps(content)
        answer = json.loads(_core.plan(text, profile.to_json()))
        super().__init__(json.dumps(answer["plan"], indent=2))
        self.summary: str = answer["summary"]
        self.profile = profile
        self.warnings = warnings or []

    @classmethod
    def read(cls, file: str | os.PathLike[str], profile: Profile) -> Plan:
        return cls(Path(file).read_text(), profile)

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """What is done with each block. A copy."""
        return self.to_dict()["blocks"]

    @property
    def predicted(self) -> dict[str, int] | None:
        """What the simulator said when the plan was made."""
        return self.to_dict()["predicted"]

    def program(self) -> list[dict[str, Any]]:
        """The steps it compiles to, by lane; each copy with the edge of a compute step that issues it."""
        return json.loads(_core.program(self.to_json(), self.profile.to_json()))["steps"]

    def __repr__(self) -> str:
        return f"Plan({self.summary!r}, for {self.profile.name!r})"
