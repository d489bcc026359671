"""What a step would take under a plan."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from .machines import Machine
from .plans import Plan, Settings
from .profiles import Profile
from .sizes import readable_bytes, readable_nanos
from .timelines import Timeline


class Prediction:
    """The simulator's answer. A plan that does not fit is an answer, too: see `fits` and `sentence`."""

    def __init__(self, answer: dict[str, Any]):
        self.sentence: str = answer.pop("sentence")
        self.timeline = Timeline(json.dumps(answer.pop("timeline")))
        self.figures = answer  # the keys of `stowage simulate --json`

    @property
    def fits(self) -> bool:
        return self.figures["outcome"] == "ran"

    @property
    def step_ns(self) -> int:
        return self.figures["step_ns"]

    @property
    def stall_ns(self) -> int:
        return self.figures["stall_ns"]

    @property
    def peak_bytes(self) -> int:
        return self.figures["peak_bytes"]

    @property
    def host_peak_bytes(self) -> int:
        return self.figures["host_peak_bytes"]

    def __repr__(self) -> str:
        step, peak = readable_nanos(self.step_ns), readable_bytes(self.peak_bytes)
        return f"Prediction({self.figures['outcome']}: {step} a step, {peak} on the device)"

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>" + self.timeline._repr_html_()


def simulate(profile: Profile, machine: Machine, plan: Plan | Settings) -> Prediction:
    """Raises InputError where the plan is not for this profile."""
    if isinstance(plan, Settings):
        plan = plan.plan(profile)
    return Prediction(json.loads(_core.simulate(profile.to_json(), plan.to_json(), machine.to_json())))
