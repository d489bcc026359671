"""Turns what a probe reads into a profile, so that the execution model gives back what was read."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import accumulate
from typing import Any

from torch import nn

from . import _core, arena
from .applied import refuse_block, shared_parameters
from .blocks import find_blocks, parameter_bytes
from .devices import Device, HostDevice, device_of
from .probe import BlockReading, Probe
from .profiles import Profile
from .restoration import Restoration
from .weights import movable, packed_bytes


def profile(
    model: nn.Module,
    step: Callable[[], Any],
    *,
    blocks: str | Sequence[str] | None = None,
    name: str | None = None,
    repeats: int = 3,
) -> Profile:
    """Measures the model over `repeats + 1` calls of `step`: one forward, one backward, and what else a step does.

    The device needs the memory of training with every block recomputed, not more. Parameters, buffers, gradients,
    optimizer states and torch's random state are put back afterwards; schedulers and data loaders go on. `blocks` names
    the lists of blocks, such as "transformer_blocks", where those found are not the ones meant. Raises InputError for a
    model or a step that cannot be measured.
    """
    device = device_of(model)
    check_accounting(model, device)
    found = find_blocks(model, blocks)
    for block in found:
        refuse_block(block.name, block.module)
    restoration = Restoration(model, device)
    probe = Probe(model, found, device)
    try:
        with ExitStack() as stack:
            probe.install(stack)
            probe.step(step)
            probe.lists = False
            forget_times(probe)
            for _ in range(repeats):
                probe.step(step)
    finally:
        restoration.put_back()
    return _Assembly(probe, model).profile(name or type(model).__name__)


def check_accounting(model: nn.Module, device: Device) -> None:
    """That the memory of this model on this device is counted."""
    if not isinstance(device, HostDevice):
        return
    if not arena.installed():
        raise _core.InputError("model: is on the CPU, whose memory is not counted; call stowage.arena.install() first")
    if arena.live() < parameter_bytes([model]):
        raise _core.InputError("model: was made before stowage.arena.install(), so that its memory is not counted")


def forget_times(probe: Probe) -> None:
    for reading in [probe.prologue, probe.epilogue, probe.optimizer]:
        reading.times.clear()
    for block in probe.readings:
        block.scope_times.clear()
        for reading in (block.forward, block.again, block.backward):
            reading.times.clear()


class _Assembly:
    """Figures of a chain, in the order of its calls."""

    def __init__(self, probe: Probe, model: nn.Module):
        self._probe = probe
        self._blocks = [probe.readings[index] for index in probe.order]
        self._warnings = [
            f"{reading.block.name} is never called" for i, reading in enumerate(probe.readings) if i not in probe.order
        ]
        self._shared = shared_parameters(model, [reading.block.module for reading in self._blocks])
        self._weights = [self._weight_bytes(reading) for reading in self._blocks]
        self._inputs = [self._input_bytes(index) for index in range(len(self._blocks))]
        self._output = self._blocks[-1].output
        self._released = [self._release_input(index) for index in range(len(self._blocks))]
        self._resident, self._gradients = self._levels()

    def profile(self, name: str) -> Profile:
        groups = {reading.block.group for reading in self._blocks}
        content = {
            "format": "stowage.profile",
            "version": 1,
            "name": name,
            "fixed": self._fixed(),
            "blocks": [self._block(index, len(groups) > 1) for index in range(len(self._blocks))],
        }
        made = Profile(content)
        made.warnings = self._warnings
        return made

    def _activation(self, index: int) -> int:
        return self._inputs[index] if index < len(self._inputs) else self._output

    def _weight_bytes(self, reading: BlockReading) -> int:
        try:
            return packed_bytes(movable(reading.block.module, self._shared))
        except _core.InputError as error:
            self._warnings.append(f"{reading.block.name} stays on the device: {error}")
            return 0

    def _state(self, index: int) -> dict[int, int]:
        """What flows from block to block, by storage: not what several blocks are given."""
        neighbours: set[int] = set()
        for other in (index - 1, index + 1):
            if 0 <= other < len(self._blocks):
                neighbours |= self._blocks[other].arguments.keys()
        return {key: size for key, size in self._blocks[index].arguments.items() if key not in neighbours}

    def _input_bytes(self, index: int) -> int:
        return sum(self._state(index).values())

    def _release_input(self, index: int) -> int:
        """Where nothing saves a block's input, it goes when the block has run, though the execution model has it stay.

        What the block saves in its stead (a copy in another type, say) counts as the input then; its bytes are returned.
        """
        reading = self._blocks[index]
        if index > 0 and self._blocks[index - 1].keeps_output:
            return 0
        gone = sum(size for key, size in self._state(index).items() if key not in reading.kept_arguments)
        for saved in sorted(reading.saved, key=lambda saved: (saved.scope != "other", -saved.bytes)):
            if saved.bytes >= gone > 0:
                saved.bytes -= gone
                saved.stays = saved.stays or saved.bytes == 0
                return gone
        return 0

    def _saved_bytes(self, index: int) -> int:
        return sum(saved.bytes for saved in self._blocks[index].saved)

    def _levels(self) -> tuple[int, list[int]]:
        """What always stays, and the gradients that each backward leaves.

        What is live beyond the execution model (outputs that the caller holds, memory of the stretches between blocks)
        counts as always there, so that no peak is predicted too low.
        """
        count = len(self._blocks)
        gradients = []
        for index, reading in enumerate(self._blocks):
            grown = reading.backward.after - reading.backward.before
            if not reading.saved and not reading.backward.times:
                grown = -self._activation(index + 1)
            freed = self._saved_bytes(index) + self._released[index] + self._activation(index + 1)
            freed += self._inputs[0] if index == 0 else 0
            gradients.append(max(0, grown + freed))
        inputs = list(accumulate(self._inputs))
        resident = self._blocks[0].forward.before - self._inputs[0] - sum(self._weights)
        static = resident + sum(self._weights)
        later = [sum(gradients[index + 1 :]) for index in range(count)]
        excess = [0]
        for index, reading in enumerate(self._blocks):
            excess.append(reading.forward.before - static - inputs[index])
            if reading.backward.times:
                saved = self._saved_bytes(index) + self._released[index]
                expected = static + inputs[index] + self._activation(index + 1) + saved + later[index]
                excess.append(reading.backward.before - expected)
        return max(0, resident + max(excess)), gradients

    def _fixed(self) -> dict[str, int]:
        probe = self._probe
        static = self._resident + sum(self._weights) + sum(self._inputs) + self._output
        return {
            "resident_bytes": self._resident,
            "output_bytes": self._output,
            "epilogue_bytes": max(0, probe.epilogue.peak - static - self._output),
            "prologue_ns": probe.prologue.median(),
            "epilogue_ns": probe.epilogue.median(),
            "optimizer_ns": probe.optimizer.median(),
        }

    def _block(self, index: int, grouped: bool) -> dict[str, Any]:
        reading = self._blocks[index]
        output, saved = self._activation(index + 1), self._saved_bytes(index)
        input_gradient = self._inputs[index] if index > 0 else 0
        backward_rise = reading.backward.rise + self._released[index]
        block = {
            "name": reading.block.name,
            "forward_ns": reading.forward.median(),
            "backward_ns": reading.backward.median(),
            "input_bytes": self._inputs[index],
            "weight_bytes": self._weights[index],
            "gradient_bytes": self._gradients[index],
            "forward_workspace_bytes": max(0, reading.again.rise - saved - output),
            "dropped_workspace_bytes": max(0, reading.forward.rise - output),
            "backward_workspace_bytes": max(0, backward_rise - self._gradients[index] - input_gradient),
            "saved": self._saved(reading),
        }
        if grouped:
            block["group"] = reading.block.group
        times = self._scope_times(reading, block["forward_ns"])
        if times:
            block["scope_forward_ns"] = times
        if reading.scope_input:
            block["scope_input_bytes"] = reading.scope_input
            # A part runs again in the middle of its block's backward, among what that works with.
            among = block["forward_workspace_bytes"] + output + block["backward_workspace_bytes"] + input_gradient
            block["scope_workspace_bytes"] = dict.fromkeys(reading.scope_input, among)
        return block

    def _scope_times(self, reading: BlockReading, forward: int) -> dict[str, int]:
        """A step's total of each scope: its parts are called once a step each."""
        steps = max(1, len(reading.forward.times))
        totals = {}
        for scope, times in reading.scope_times.items():
            calls = max(1, len(times) // steps)
            each = [sum(times[begin : begin + calls]) for begin in range(0, len(times), calls)]
            totals[scope] = int(statistics.median(each))
        whole = sum(totals.values())
        return {scope: total * forward // whole if whole > forward else total for scope, total in totals.items()}

    @staticmethod
    def _saved(reading: BlockReading) -> list[dict[str, Any]]:
        counts: dict[str, int] = {}
        listed = []
        for saved in reading.saved:
            number = counts.get(saved.scope, 0)
            counts[saved.scope] = number + 1
            listed.append(
                {"name": f"{saved.scope}.{number}", "bytes": saved.bytes, "scope": saved.scope}
                | ({"stays": True} if saved.stays else {})
            )
        return listed
