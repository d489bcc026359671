"""The CPU as a device whose memory is counted to the byte, and which may have a budget.

    stowage.arena.install("300MiB")     # before the model is made: what was allocated earlier is not counted

Every tensor on the CPU lives in it from then on, for the whole process; passing the budget raises
`torch.OutOfMemoryError`. What Stowage sends "to the host" lives outside it. It makes memory on a machine without a GPU as
scarce as on one with a GPU, so that plans can be tried there.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import torch

from .sizes import Size, bytes_of

_installed = False
_budget: int | None = None


def _module() -> ModuleType:
    try:
        from . import _arena
    except ImportError as error:
        raise RuntimeError(
            "this stowage was built without torch in its environment: install torch, then stowage again"
        ) from error
    if _arena.torch_version != torch.__version__:
        raise RuntimeError(
            f"this stowage was built for torch {_arena.torch_version}, and this is torch {torch.__version__}: "
            "install stowage again"
        )
    return _arena


def install(budget: Size | None = None) -> None:
    """Makes the arena torch's allocator for the CPU. Later calls only set the budget; None: no budget."""
    global _installed
    _module().install()
    _installed = True
    set_budget(budget)


def installed() -> bool:
    return _installed


def set_budget(budget: Size | None) -> None:
    """What is live already stays, even if it is more."""
    global _budget
    _budget = None if budget is None else bytes_of(budget)
    _module().set_budget(_budget)


def budget() -> int | None:
    """As it was set last."""
    return _budget


def on_shortage(make_room: Callable[[], bool] | None) -> None:
    """Called when the budget is about to refuse a request: True means that it is worth another try."""
    _module().on_shortage(make_room)


def live() -> int:
    """Bytes in use."""
    return _module().live()


def take_peak() -> int:
    """The most that was in use since the last call; starts anew from what is in use now."""
    return _module().take_peak()
