"""Measures a model: what each block costs in time and memory, from whole training steps.

Every block is recomputed by itself while it is measured, so that models can be measured that do not fit without a plan:

    F_i  saves nothing    R_i  the forward again, and all that it saves    B_i  the backward alone
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from . import _core, trees
from .applied import PlannedForward
from .blocks import Block, scope_modules
from .devices import Device
from .saved import StorageList
from .segments import Rerun, Watcher

SMALL = 1024  # bytes: a copy of less takes longer than it is worth


@dataclass
class Reading:
    """Of one stretch of compute: exact bytes, of the last step, and the times of all."""

    before: int = 0
    peak: int = 0
    after: int = 0
    times: list[int] = field(default_factory=list)

    @property
    def rise(self) -> int:
        return self.peak - self.before

    def median(self) -> int:
        return int(statistics.median(self.times)) if self.times else 0


@dataclass
class SavedStorage:
    """What autograd keeps in one piece of memory. Without bytes: the block's output, which is there anyway."""

    scope: str
    bytes: int
    stays: bool


@dataclass
class BlockReading:
    block: Block
    forward: Reading = field(default_factory=Reading)
    again: Reading = field(default_factory=Reading)
    backward: Reading = field(default_factory=Reading)
    scope_times: dict[str, list[int]] = field(default_factory=dict)
    scope_input: dict[str, int] = field(default_factory=dict)
    arguments: dict[int, int] = field(default_factory=dict)  # storages that come in, and their bytes
    output: int = 0
    kept_arguments: set[int] = field(default_factory=set)  # storages of them that the block saves
    keeps_output: bool = False
    saved: list[SavedStorage] = field(default_factory=list)


class Stretches:
    """Reads the clock and the memory where one stretch of compute ends and the next begins."""

    def __init__(self, device: Device):
        self._device = device
        self._reading: Reading | None = None
        self._begin = 0

    def enter(self, reading: Reading | None) -> None:
        """The stretch under way ends, and this one begins; None: nobody asks for what follows."""
        self._device.finish()
        now, live, peak = time.perf_counter_ns(), self._device.live(), self._device.take_peak()
        if self._reading is not None:
            self._reading.after, self._reading.peak = live, peak
            self._reading.times.append(now - self._begin)
        self._reading = reading
        if reading is not None:
            reading.before = live
        self._begin = time.perf_counter_ns()


class _Timing(Watcher):
    """Reads a block that runs again."""

    def __init__(self, probe: Probe, reading: BlockReading):
        self._probe = probe
        self._reading = reading

    def begins(self, position: int) -> None:
        self._probe.stretches.enter(self._reading.again)

    def has_run(self) -> None:
        self._probe.stretches.enter(self._reading.backward)


class _Listing(_Timing):
    """Lists what it saves, too."""

    listens = True

    def __init__(self, probe: Probe, reading: BlockReading):
        super().__init__(probe, reading)
        self._storages = StorageList(probe.model_keys, reading.arguments)
        self._found: list[tuple[int, SavedStorage]] = []
        self._starts: dict[int, tuple[str, int]] = {}
        reading.kept_arguments = set()

    def begins(self, position: int) -> None:
        self._probe.listing = self
        super().begins(position)

    def starts(self, scope: str, tensors: list[Tensor]) -> None:
        """A part of the block begins with these: where it is recomputed alone, they stay."""
        for key, size in _storages(tensors).items():
            if key not in self._reading.arguments and key not in self._probe.model_keys:
                self._starts.setdefault(key, (scope, size))

    def saves(self, position: int, tensor: Tensor) -> None:
        key = trees.storage_key(tensor)
        if key in self._reading.arguments:
            self._reading.kept_arguments.add(key)
        if key is None or self._storages.number(tensor) != len(self._found):
            return  # no new storage
        size = tensor.untyped_storage().nbytes()
        scope = "other" if key in self._starts else self._probe.scope
        stays = size < SMALL or not (tensor.is_floating_point() or tensor.is_complex())
        self._found.append((key, SavedStorage(scope, size, stays)))

    def ends(self, position: int, outputs: list[Tensor]) -> None:
        leaving = trees.storage_keys(outputs)
        self._reading.keeps_output = any(key in leaving for key, _ in self._found)
        for key, saved in self._found:
            if key in leaving:
                saved.bytes, saved.stays = 0, True
        kept = {key for key, _ in self._found} | leaving
        self._reading.scope_input = dict.fromkeys(self._reading.scope_input, 0)
        for key, (scope, size) in self._starts.items():
            self._reading.scope_input[scope] = self._reading.scope_input.get(scope, 0) + (0 if key in kept else size)
        self._reading.saved = [saved for _, saved in self._found]

    def has_run(self) -> None:
        self._probe.listing = None
        super().has_run()


class Probe:
    """Stands between a model and its blocks for the steps that are measured."""

    def __init__(self, model: nn.Module, blocks: list[Block], device: Device):
        self.device = device
        self.stretches = Stretches(device)
        self.prologue, self.epilogue, self.optimizer = Reading(), Reading(), Reading()
        self.readings = [BlockReading(block) for block in blocks]
        self.order: list[int] = []  # of calls in the last step
        self.model_keys = trees.storage_keys([*model.parameters(), *model.buffers()])
        self.lists = True  # what is saved, for which forwards run again to their end
        self.listing: _Listing | None = None
        self.scope = "other"
        self._gap = Reading()
        self._backward_begun = False

    def install(self, stack: ExitStack) -> None:
        for index, reading in enumerate(self.readings):
            module = reading.block.module
            plain = module.forward
            run = lambda args, kwargs, index=index, plain=plain: self._run(index, plain, args, kwargs)  # noqa: E731
            stack.callback(PlannedForward(module, run).remove)
            for scope, parts in scope_modules(module).items():
                for part in parts:
                    self._watch_part(stack, reading, scope, part)

    def step(self, step: Callable[[], Any]) -> None:
        self.order = []
        self._backward_begun = False
        self.stretches.enter(self.prologue)
        step()
        self.stretches.enter(None)
        if not self.order:
            raise _core.InputError("step: runs none of the model's blocks with gradients")
        if not self._backward_begun:
            raise _core.InputError("step: has no backward through the model's blocks")
        for index in set(self.order):
            if self.order.count(index) > 1:
                name = self.readings[index].block.name
                raise _core.InputError(f"step: runs {name} more than once; give it one forward and one backward")

    def _run(self, index: int, plain: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        if not torch.is_grad_enabled():
            return plain(*args, **kwargs)
        reading = self.readings[index]
        entering = trees.tensors_in((args, kwargs))
        if self.lists:
            reading.arguments = _storages(entering)
        self.order.append(index)
        self.stretches.enter(reading.forward)
        again = Rerun(self.device.torch, _Listing(self, reading) if self.lists else _Timing(self, reading), whole=self.lists)
        result = again.forward(reading.block.name, plain, args, kwargs)
        leaving = trees.tensors_in(result)
        self._gap = Reading()
        self.stretches.enter(self._gap)
        came_in = _storages(entering)
        reading.output = sum(size for key, size in _storages(leaving).items() if key not in came_in)
        entered = {id(tensor) for tensor in entering}
        come: list[bool] = []

        def backward_comes(_: Any) -> None:  # by each of the outputs
            if not come:
                come.append(True)
                self._backward_comes()

        for tensor in leaving:
            if tensor.grad_fn is not None and id(tensor) not in entered:
                tensor.grad_fn.register_prehook(backward_comes)
        return result

    def _backward_comes(self) -> None:
        self.stretches.enter(None)
        if self._backward_begun:
            return
        self._backward_begun = True
        self._gap.times = [*self.epilogue.times, *self._gap.times]
        self.epilogue = self._gap
        torch.autograd.Variable._execution_engine.queue_callback(lambda: self.stretches.enter(self.optimizer))

    def _watch_part(self, stack: ExitStack, reading: BlockReading, scope: str, part: nn.Module) -> None:
        outer: list[tuple[str, int]] = []

        def enter(_: nn.Module, args: tuple, kwargs: dict) -> None:
            outer.append((self.scope, time.perf_counter_ns()))
            self.scope = scope
            if self.listing is not None:
                self.listing.starts(scope, trees.tensors_in((args, kwargs)))

        def leave(*_: Any) -> None:
            self.device.finish()
            self.scope, begin = outer.pop()
            if not self.lists and self.order and self.readings[self.order[-1]] is reading and not self._backward_begun:
                reading.scope_times.setdefault(scope, []).append(time.perf_counter_ns() - begin)

        stack.callback(part.register_forward_pre_hook(enter, with_kwargs=True).remove)
        stack.callback(part.register_forward_hook(leave, always_call=True).remove)


def _storages(tensors: list[Tensor]) -> dict[int, int]:
    return {key: t.untyped_storage().nbytes() for t in tensors if (key := trees.storage_key(t)) is not None}
