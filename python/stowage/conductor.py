"""Carries out a compiled program while a model trains: what is copied when, and when weights go.

Events come from the blocks' forwards and from the graph: the forward of block i begins and ends, its backward begins.
Each leads to the step of the program that it is, and what the program issues on the way there is issued:

    F_0 .. F_i        E           B_n-1 ...               O
    |   edges that lie between    |                       the backward has ended

Nothing depends on it but time and memory. Where a model leaves the program's order (a block that is skipped, another
forward before the backward, evaluation) copies are made when something needs their result.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from typing import Any

import torch

from .devices import Device
from .lanes import Lane
from .saved import Traveller
from .segments import Input, Rerun
from .weights import BlockWeights

READY, BEGIN, END = range(3)


class Conductor:
    """Of one model under one plan."""

    def __init__(self, steps: list[dict[str, Any]], weights: dict[int, BlockWeights], device: Device):
        self._steps = steps
        self._weights = weights
        self._device = device
        self.to_host: Lane = device.lane("d2h")
        self.to_device: Lane = device.lane("h2d")
        self._step_of: dict[tuple[str, int | None], int] = {}
        self._issues: defaultdict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for number, step in enumerate(steps):
            if step["lane"] == "compute":
                self._step_of.setdefault((step["kind"], step["block"]), number)
            else:
                self._issues[tuple(step["issue"])].append(step)
        self.offloads_inputs = any(step["kind"] == "store_input" for step in steps)
        self._leaving: list[Traveller] = []
        self._state_of_first: set[int] = set()  # positions among the arguments of block 0
        self._pass = 0
        self._forget_pass()
        device.on_shortage(self.make_room)

    # --- events -------------------------------------------------------------------------------------------------------

    def forward_begins(self, block: int) -> int:
        """The number of the pass."""
        if block == 0:
            self._drop_weights()
            self._begin_pass()
        self._reach("forward", block)
        if block in self._weights:
            self._weights[block].arrive()
        return self._pass

    def forward_ends(self, block: int, travellers: dict[int, Traveller]) -> None:
        for storage, traveller in travellers.items():
            self._travellers[block, storage] = weakref.ref(traveller)
        if self._is_at("forward", block):
            self._end_step()
            if ("forward", block + 1) not in self._step_of:
                self._reach("epilogue", None)
        else:
            for traveller in travellers.values():
                self._send(traveller)
            if block in self._weights:
                self._weights[block].drop()

    def input_of(self, block: int, rerun: Rerun, keys: list[int | None]) -> None:
        """Block begins a segment whose input travels, and was called with tensors of these storages."""
        self._rerun_inputs[block] = [
            item for position, item in enumerate(rerun.inputs())
            if isinstance(item, Input) and position in self._state_positions(block, keys)
        ]  # fmt: skip

    def called_with(self, block: int, keys: list[int | None]) -> None:
        """What is the same for every block is no part of the state that flows between them."""
        if block == 1:
            self._state_of_first = {
                p for p, key in enumerate(self._keys.get(0, [])) if key is not None and key not in keys
            }
        self._keys[block] = keys

    def backward_begins(self, block: int, number: int, again_from: int | None) -> None:
        """`again_from`: the first block of the segment that runs again for this one."""
        if not self._backward_begun:
            self._backward_begun = True
            torch.autograd.Variable._execution_engine.queue_callback(self.backward_ends)
        if number != self._pass:
            self._current = None
        if again_from is None or not self._reach("recompute", again_from):
            self._reach("backward", block)
        self.needs_weights(block)

    def runs_again(self, block: int) -> None:
        self._reach("recompute", block)
        self.needs_weights(block)

    def has_run_again(self, block: int) -> None:
        """The segment that ends with this block."""
        self._reach("backward", block)

    def backward_ends(self) -> None:
        self._reach("optimizer", None)
        self._drop_weights()
        self._settle()
        self._forget_pass()

    def needs_weights(self, block: int) -> None:
        if self._current is None:  # off the program: nothing says when a use ends
            self._drop_weights(but=block)
        if block in self._weights:
            self._weights[block].arrive()

    def make_room(self) -> bool:
        """Waits for something that is on its way to the host. Whether there was anything."""
        while self._leaving:
            traveller = self._leaving.pop(0)
            if traveller.let_go(wait=True):
                return True
        return False

    def break_off(self) -> None:
        """A forward has failed."""
        self._drop_weights()
        self._current = None

    def close(self) -> None:
        self._device.on_shortage(None)
        self._drop_weights()
        self.to_host.close()
        self.to_device.close()
        self._device.release_host()

    # --- the program --------------------------------------------------------------------------------------------------

    def _begin_pass(self) -> None:
        self._forget_pass()
        self._pass += 1
        self._current = 0
        self._issue(READY)
        self._issue(BEGIN)

    def _forget_pass(self) -> None:
        self._current: int | None = None
        self._ended = False
        self._backward_begun = False
        self._travellers: dict[tuple[int, int], weakref.ref[Traveller]] = {}
        self._input_travellers: dict[int, list[weakref.ref[Traveller]]] = {}
        self._rerun_inputs: dict[int, list[Input]] = {}
        self._keys: dict[int, list[int | None]] = {}

    def _is_at(self, kind: str, block: int) -> bool:
        return self._current is not None and self._current == self._step_of.get((kind, block))

    def _reach(self, kind: str, block: int | None) -> bool:
        """Goes on to that step. False if it has none; a step that lies behind ends the program for this pass."""
        target = self._step_of.get((kind, block))
        if target is None:
            return False
        if self._current is None:
            return True
        if target < self._current:
            self._current = None
            return True
        while self._current < target:
            self._end_step()
            self._current += 1
            self._ended = False
            self._issue(READY)
            self._issue(BEGIN)
        return True

    def _end_step(self) -> None:
        assert self._current is not None
        if self._ended:
            return
        self._ended = True
        self._issue(END)
        for block in self._steps[self._current]["uses_end"]:
            if block in self._weights:
                self._weights[block].drop()
        self._settle()

    def _issue(self, edge: int) -> None:
        assert self._current is not None
        for copy in self._issues.get((self._current, edge), ()):
            self._start(copy["kind"], copy["block"], copy["storage"])

    def _start(self, kind: str, block: int, storage: int | None) -> None:
        if kind == "load_weights":
            self._weights[block].start_load()
        elif kind == "store_weights":  # what has not changed on the device is on the host already
            self._weights[block].drop()
        elif kind == "store_saved":
            self._send(self._alive(self._travellers.get((block, storage or 0))))
        elif kind == "restore_saved":
            self._fetch(self._alive(self._travellers.get((block, storage or 0))))
        elif kind == "store_input":
            self._send_inputs(block)
        elif kind == "restore_input":
            for reference in self._input_travellers.get(block, []):
                self._fetch(reference())

    def _send_inputs(self, block: int) -> None:
        by_storage: dict[int, Traveller] = {}
        for item in self._rerun_inputs.pop(block, []):
            key = item.key()
            if key is None:
                continue
            if key not in by_storage:
                by_storage[key] = Traveller(item.whole_storage(), self._device, self.to_device)
            item.travel(by_storage[key])
        self._input_travellers[block] = [weakref.ref(traveller) for traveller in by_storage.values()]
        for traveller in by_storage.values():
            self._send(traveller)

    def _state_positions(self, block: int, keys: list[int | None]) -> set[int]:
        if block == 0:
            return self._state_of_first
        before = self._keys.get(block - 1, [])
        return {position for position, key in enumerate(keys) if key is not None and key not in before}

    # --- copies -------------------------------------------------------------------------------------------------------

    @staticmethod
    def _alive(reference: weakref.ref[Traveller] | None) -> Traveller | None:
        return None if reference is None else reference()

    def _send(self, traveller: Traveller | None) -> None:
        if traveller is not None:
            traveller.send(self.to_host)
            self._leaving.append(traveller)

    def _fetch(self, traveller: Traveller | None) -> None:
        if traveller is not None:
            traveller.fetch()

    def _settle(self) -> None:
        self._leaving = [traveller for traveller in self._leaving if not traveller.let_go()]

    def _drop_weights(self, but: int | None = None) -> None:
        for block, weights in self._weights.items():
            if block != but:
                weights.drop()
