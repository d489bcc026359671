"""Stowage predicts, tunes and carries out checkpointing and offload for PyTorch training.

    profile = stowage.profile(model, step)              # measures the model's blocks over a few real steps
    tuning = stowage.tune(profile, stowage.this_machine(model), vram="8GiB")
    with stowage.apply(tuning.plan, model):             # the plan is carried out while the context is open
        step()

`stowage.autotune(model, step, vram="8GiB")` does all of it.
"""

from ._core import InputError, SystemError, version as __version__
from . import arena
from .applied import Applied, apply
from .autotuning import Autotuned, autotune, this_machine
from .machines import Machine
from .plans import Plan, Settings
from .profiling import profile
from .profiles import Profile
from .simulation import Prediction, simulate
from .timelines import Timeline
from .tuning import DoesNotFit, Frontier, Tuning, tune

__all__ = [
    "Applied",
    "Autotuned",
    "DoesNotFit",
    "Frontier",
    "InputError",
    "Machine",
    "Plan",
    "Prediction",
    "Profile",
    "Settings",
    "SystemError",
    "Timeline",
    "Tuning",
    "__version__",
    "apply",
    "arena",
    "autotune",
    "profile",
    "simulate",
    "this_machine",
    "tune",
]
