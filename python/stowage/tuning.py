"""The fastest plan that fits, and what every other budget would get."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .machines import Machine
from .plans import Plan, Settings
from .profiles import Profile
from .sizes import Size, bytes_of, readable_bytes, readable_nanos
from .tables import html_table

if TYPE_CHECKING:
    import pandas


class DoesNotFit(MemoryError):
    """No plan fits the budget; `least_bytes` of device memory would do."""

    def __init__(self, sentence: str, least_bytes: int):
        super().__init__(sentence)
        self.least_bytes = least_bytes


@dataclass(frozen=True)
class FrontierPoint:
    peak_bytes: int
    step_ns: int
    host_peak_bytes: int
    settings: Settings


class Frontier:
    """Settings of which none are both faster and smaller: rising in memory, falling in time."""

    def __init__(self, points: list[FrontierPoint]):
        self.points = points

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    def __getitem__(self, index: int) -> FrontierPoint:
        return self.points[index]

    def to_pandas(self) -> pandas.DataFrame:
        import pandas

        keys = ("peak_bytes", "step_ns", "host_peak_bytes")
        rows = [{key: getattr(point, key) for key in keys} | vars(point.settings) for point in self.points]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return f"Frontier({len(self)} points)"

    def _repr_html_(self) -> str:
        rows = [[readable_bytes(p.peak_bytes), readable_nanos(p.step_ns), _words(p.settings)] for p in self.points]
        return html_table("Time against memory", ["device peak", "step", "settings"], rows)


class Tuning:
    """The answer of a search. `plan` is None where nothing fits; `best` raises DoesNotFit then."""

    def __init__(self, answer: dict[str, Any], profile: Profile):
        self.figures: dict[str, Any] = answer["answer"]  # the keys of `stowage tune --json`
        self.sentence: str = answer["sentence"]
        self.certainty: str = answer["certainty"]
        found = self.figures.pop("plan", None)
        self.plan = Plan(json.dumps(found), profile) if found else None
        self.frontier = Frontier(
            [
                FrontierPoint(p["peak_bytes"], p["step_ns"], p["host_peak_bytes"], Settings.parse(p["settings"]))
                for p in self.figures.pop("frontier")
            ]
        )

    @property
    def best(self) -> Plan:
        if self.plan is None:
            raise DoesNotFit(self.sentence, self.least_bytes or 0)
        return self.plan

    @property
    def least_bytes(self) -> int | None:
        """The device memory that would do, where nothing fits."""
        return self.figures.get("least_bytes")

    @property
    def gap(self) -> float | None:
        """How much slower than the best of all plans this one can be: 0.01 is one percent."""
        return self.figures.get("gap")

    @property
    def optimal(self) -> bool:
        return bool(self.figures.get("optimal"))

    @property
    def null_fits(self) -> bool:
        """Whether keeping everything fits."""
        return self.figures["null_fits"]

    def __repr__(self) -> str:
        return f"Tuning({self.sentence!r})"

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p><p>{self.certainty}</p>" + self.frontier._repr_html_()


def tune(
    profile: Profile,
    machine: Machine,
    *,
    vram: Size | None = None,
    host_ram: Size | None = None,
    margin: Size = 0,
    free: bool = True,
    threads: int | None = None,
) -> Tuning:
    """Searches for the fastest plan within the machine's memory, or `vram` and `host_ram` instead of it, less `margin`.

    `free`: go on from what settings express to plans that decide block by block.
    """
    device = None if vram is None else bytes_of(vram)
    host = None if host_ram is None else bytes_of(host_ram)
    answer = _core.tune(
        profile.to_json(), machine.to_json(), device, host, bytes_of(margin), free, threads or os.cpu_count() or 1
    )
    return Tuning(json.loads(answer), profile)


def _words(settings: Settings) -> str:
    changed = {key: value for key, value in vars(settings).items() if value != getattr(Settings(), key)}
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in changed.items()) or "keep"
