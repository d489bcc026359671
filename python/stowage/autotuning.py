"""Measures a model and this machine, and trains under the fastest plan that fits."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn

from .applied import Applied
from .devices import Device, HostDevice, device_of, host_memory_bytes
from .machines import Machine
from .profiling import profile
from .sizes import Size, bytes_of
from .tuning import Tuning, tune

PROBE_BYTES = 16 << 20
PINNED_SHARE = 2  # of the host's memory, one in so many bytes may hold copies
MARGIN = 0.02  # of the budget, for what a prediction may be off


class Autotuned(Applied):
    """The plan in force, with the search that found it as `tuning`."""

    def __init__(self, tuning: Tuning, model: nn.Module):
        super().__init__(tuning.best, model)
        self.tuning = tuning


def this_machine(model: nn.Module, *, vram: Size | None = None) -> Machine:
    """The device that the model is on, and this computer's memory and links, which are measured by a few copies."""
    device = device_of(model)
    host = host_memory_bytes()
    to_device, to_host = _rates(device)
    return Machine(
        {
            "format": "stowage.machine",
            "version": 1,
            "name": str(device.torch),
            "device": {"memory_bytes": device.memory_bytes() if vram is None else bytes_of(vram)},
            "host": {
                "memory_bytes": host,
                "pinned_limit_bytes": host // PINNED_SHARE,
                "pinned_rounding": "exact" if isinstance(device, HostDevice) else "pow2",
            },
            "links": {
                "h2d": {"bytes_per_second": to_device, "latency_ns": 20_000},
                "d2h": {"bytes_per_second": to_host, "latency_ns": 20_000},
            },
            "arena": "ideal" if isinstance(device, HostDevice) else "caching",
        }
    )


def autotune(
    model: nn.Module,
    step: Callable[[], Any],
    *,
    vram: Size | None = None,
    host_ram: Size | None = None,
    margin: Size | None = None,
    blocks: str | Sequence[str] | None = None,
) -> Autotuned:
    """Profiles, tunes and applies. `vram`: what training may take of the device, all of it if not given.

    `margin`: of that what is left alone, two percent if not given. Raises DoesNotFit, which says what would do.
    """
    budget = device_of(model).memory_bytes() if vram is None else bytes_of(vram)
    measured = profile(model, step, blocks=blocks)
    machine = this_machine(model, vram=budget)
    spare = int(MARGIN * budget) if margin is None else bytes_of(margin)
    return Autotuned(tune(measured, machine, host_ram=host_ram, margin=spare), model)


def _rates(device: Device) -> tuple[int, int]:
    """Bytes a second to the device and to the host; medians of a few copies, each into memory used before."""
    on_device, on_host = device.bytes(PROBE_BYTES), device.host_bytes(PROBE_BYTES)
    rates = []
    for name, to, source in (("h2d", on_device, on_host), ("d2h", on_host, on_device)):
        lane = device.lane(name)
        times = []
        for _ in range(6):
            device.finish()
            begin = time.perf_counter()
            lane.submit(to, source).finish()
            times.append(time.perf_counter() - begin)
        lane.close()
        rates.append(int(PROBE_BYTES / statistics.median(times[1:])))
    return rates[0], rates[1]
