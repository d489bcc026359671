"""Runs a stretch of modules again instead of keeping what autograd saves of it.

The first pass drops each saved tensor and notes what it looked like. When the backward asks for one, the stretch runs
again from its inputs, and what it saves this time is handed out:

    forward   M_a  M_a+1 ... M_b      inputs of M_a are kept; of the others only what is not an output of the one before
    backward  M_a  M_a+1 ... M_b      again, as far as the last save; then the backwards of M_b ... M_a
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from . import trees
from .conditions import Conditions
from .saved import Layout, Traveller, layout_of, view_of, whole_storage

Forward = Callable[..., Any]


class RecomputationError(RuntimeError):
    """A module did something else when it ran again."""


class _Enough(Exception):
    """All that the backward will ask for was saved."""


@dataclass
class _FromBefore:
    """An input that is output `index` of the module before."""

    index: int


class Input:
    """A tensor that stays, or travels. Cut from its graph, which must not hold itself."""

    def __init__(self, tensor: Tensor):
        self._tensor: Tensor | None = tensor.detach()
        self._wants_gradient = tensor.requires_grad
        self._version = tensor._version
        self._away: tuple[Traveller, Layout] | None = None

    def key(self) -> int | None:
        return None if self._tensor is None else trees.storage_key(self._tensor)

    def travel(self, traveller: Traveller) -> None:
        """From now on it is a view of what travels."""
        assert self._tensor is not None
        self._away = traveller, layout_of(self._tensor)
        self._tensor = None

    def whole_storage(self) -> Tensor:
        assert self._tensor is not None
        return whole_storage(self._tensor)

    def again(self, name: str) -> Tensor:
        if self._away is not None:
            traveller, layout = self._away
            return view_of(traveller.memory(), layout).requires_grad_(self._wants_gradient)
        assert self._tensor is not None
        if self._tensor._version != self._version:
            raise RecomputationError(f"{name}: an input was changed in place after its forward")
        return self._tensor.detach().requires_grad_(self._wants_gradient)


class _Call:
    """One module of the stretch: how to call it again, and what it saved."""

    def __init__(self, name: str, forward: Forward, conditions: Conditions):
        self.name = name
        self.forward = forward
        self.conditions = conditions
        self.inputs: list[Any] = []
        self.layout: Any = None
        self.saves: list[tuple[torch.Size, torch.dtype]] = []
        self.outputs: list[weakref.ref[Tensor]] = []
        self.versions: list[int] = []

    def take(self, args: tuple, kwargs: dict, before: _Call | None) -> None:
        leaves, self.layout = trees.flatten((args, kwargs))
        self.inputs = [self._input(leaf, before) for leaf in leaves]

    def _input(self, leaf: Any, before: _Call | None) -> Any:
        if not isinstance(leaf, Tensor):
            if "Cache" in type(leaf).__name__:
                raise RecomputationError(f"{self.name}: takes a {type(leaf).__name__}, which it changes: use_cache=False")
            return leaf
        if before is not None:
            for index, output in enumerate(before.outputs):
                if output() is leaf and leaf._version == before.versions[index]:
                    return _FromBefore(index)
        return Input(leaf)

    def note_outputs(self, result: Any) -> None:
        outputs = trees.tensors_in(result)
        self.outputs = [weakref.ref(output) for output in outputs]
        self.versions = [output._version for output in outputs]

    def arguments(self, before: list[Tensor]) -> tuple[tuple, dict]:
        def again(item: Any) -> Any:
            if isinstance(item, Input):
                return item.again(self.name)
            return before[item.index] if isinstance(item, _FromBefore) else item

        return trees.unflatten([again(item) for item in self.inputs], self.layout)


class Watcher:
    """Told what happens when a stretch runs again."""

    def begins(self, position: int) -> None:
        """Before each module."""

    def saves(self, position: int, tensor: Tensor) -> None:
        """Only where `listens`."""

    def ends(self, position: int, outputs: list[Tensor]) -> None:
        """After each module that ran to its end."""

    def has_run(self) -> None:
        """All have."""

    listens = False


class Rerun:
    """One pass through a stretch. Lives as long as the graph that may ask for what was dropped."""

    def __init__(self, device: torch.device, watcher: Watcher | None = None, whole: bool = False):
        """`whole`: run again to the end, and not only as far as the last save."""
        self._device = device
        self._watcher = watcher or Watcher()
        self._whole = whole
        self._calls: list[_Call] = []
        self._kept: dict[tuple[int, int], Tensor] = {}

    def forward(self, name: str, forward: Forward, args: tuple, kwargs: dict) -> Any:
        """Runs the next module of the stretch for the first time."""
        before = self._calls[-1] if self._calls else None
        call = _Call(name, forward, Conditions(self._device))
        call.take(args, kwargs, before)
        position = len(self._calls)
        self._calls.append(call)
        saves = call.saves

        def drop(tensor: Tensor) -> tuple[Rerun, int, int]:
            saves.append((tensor.shape, tensor.dtype))
            return self, position, len(saves) - 1

        with saved_tensors_hooks(drop, _bring_back):
            result = forward(*args, **kwargs)
        call.note_outputs(result)
        return result

    @property
    def length(self) -> int:
        """How many modules have run."""
        return len(self._calls)

    def inputs(self) -> list[Any]:
        """What the first module was called with, as flatten() has it; its tensors are Inputs."""
        return self._calls[0].inputs

    def bring_back(self, position: int, index: int) -> Tensor:
        if (position, index) not in self._kept:
            self.run_again()
        return self._kept.pop((position, index))

    def run_again(self) -> None:
        self._kept.clear()
        outputs: list[Tensor] = []
        for position, call in enumerate(self._calls):
            self._watcher.begins(position)
            last = position == len(self._calls) - 1
            outputs = self._run(call, position, outputs, stop=last and not self._whole)
            self._watcher.ends(position, outputs)
        del outputs  # nobody needs the last ones
        self._watcher.has_run()

    def _run(self, call: _Call, position: int, before: list[Tensor], stop: bool) -> list[Tensor]:
        count = 0
        listens = self._watcher.listens

        def keep(tensor: Tensor) -> None:
            nonlocal count
            if count >= len(call.saves) or call.saves[count] != (tensor.shape, tensor.dtype):
                raise RecomputationError(_difference(call, count, tensor))
            self._kept[position, count] = tensor.detach()
            if listens:
                self._watcher.saves(position, tensor)
            count += 1
            if stop and count == len(call.saves):
                raise _Enough

        args, kwargs = call.arguments(before)
        result = None
        with call.conditions.again(), torch.enable_grad(), saved_tensors_hooks(keep, _never_used):
            try:
                result = call.forward(*args, **kwargs)
            except _Enough:
                pass
        if count != len(call.saves):
            raise RecomputationError(f"{call.name}: saved {len(call.saves)} tensors, and {count} when it ran again")
        return [t.detach().requires_grad_(t.requires_grad) for t in trees.tensors_in(result)]


def _bring_back(packed: tuple[Rerun, int, int]) -> Tensor:
    rerun, position, index = packed
    return rerun.bring_back(position, index)


def _never_used(_: None) -> Tensor:
    raise RecomputationError("the graph of a second forward was used")


def _difference(call: _Call, index: int, tensor: Tensor) -> str:
    now = f"{tuple(tensor.shape)} of {tensor.dtype}"
    if index >= len(call.saves):
        return f"{call.name}: saves one tensor more than before when it runs again: {now}"
    shape, dtype = call.saves[index]
    return f"{call.name}: tensor {index} that it saves was {tuple(shape)} of {dtype}, and is {now} when it runs again"
