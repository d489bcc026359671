"""A device as plans need it: how much memory is in use, host memory for what travels, and two lanes for copies."""

from __future__ import annotations

import mmap
import os
from collections import defaultdict
from collections.abc import Callable

import torch
from torch import Tensor, nn

from . import _core, arena
from .lanes import HostLane, Lane, StreamLane


class Device:
    """Memory figures are exact bytes of tensors on the device."""

    def __init__(self, device: torch.device):
        self.torch = device
        self._unused: defaultdict[int, list[Tensor]] = defaultdict(list)

    def live(self) -> int:
        raise NotImplementedError

    def take_peak(self) -> int:
        """The most that was live since the last call."""
        raise NotImplementedError

    def finish(self) -> None:
        """Returns once all that it was given to compute has ended."""

    def lane(self, name: str) -> Lane:
        raise NotImplementedError

    def on_shortage(self, make_room: Callable[[], bool] | None) -> None:
        """Called where memory runs out: True if a second try is worth it."""

    def memory_bytes(self) -> int:
        raise NotImplementedError

    def _new_host_bytes(self, count: int) -> Tensor:
        raise NotImplementedError

    def bytes(self, count: int) -> Tensor:
        """Device memory, a flat tensor of bytes."""
        return torch.empty(count, dtype=torch.uint8, device=self.torch)

    def host_bytes(self, count: int) -> Tensor:
        """Host memory that copies are fast from and to; give_back() keeps it for the next one of its size."""
        unused = self._unused[count]
        return unused.pop() if unused else self._new_host_bytes(count)

    def give_back(self, memory: Tensor) -> None:
        self._unused[memory.numel()].append(memory)

    def release_host(self) -> None:
        """Forgets what was given back."""
        self._unused.clear()


class HostDevice(Device):
    """The CPU; see arena."""

    def live(self) -> int:
        return arena.live()

    def take_peak(self) -> int:
        return arena.take_peak()

    def lane(self, name: str) -> Lane:
        return HostLane(name)

    def on_shortage(self, make_room: Callable[[], bool] | None) -> None:
        if arena.installed():
            arena.on_shortage(make_room)

    def memory_bytes(self) -> int:
        return arena.budget() or host_memory_bytes()

    def _new_host_bytes(self, count: int) -> Tensor:
        # Of the system, not of torch's allocator: it is no device memory, and it is aligned as tensors are.
        return torch.frombuffer(mmap.mmap(-1, max(1, count)), dtype=torch.uint8)[:count]


class CudaDevice(Device):
    def live(self) -> int:
        return torch.cuda.memory_allocated(self.torch)

    def take_peak(self) -> int:
        peak = torch.cuda.max_memory_allocated(self.torch)
        torch.cuda.reset_peak_memory_stats(self.torch)
        return peak

    def finish(self) -> None:
        torch.cuda.synchronize(self.torch)

    def lane(self, name: str) -> Lane:
        return StreamLane(self.torch)

    def memory_bytes(self) -> int:
        return torch.cuda.get_device_properties(self.torch).total_memory

    def _new_host_bytes(self, count: int) -> Tensor:
        return torch.empty(count, dtype=torch.uint8, pin_memory=True)


def device_of(model: nn.Module) -> Device:
    """Where the model is. Raises InputError for a model in several places, and for devices that are not supported."""
    places = {parameter.device for parameter in model.parameters()}
    kinds = sorted({str(place) for place in places})
    if len(places) != 1:
        raise _core.InputError(f"model: its parameters must be on one device, not on {', '.join(kinds) or 'none'}")
    device = places.pop()
    if device.type == "cpu":
        return HostDevice(device)
    if device.type == "cuda":
        return CudaDevice(device)
    raise _core.InputError(f"model: plans are carried out on the CPU and on CUDA devices, not on {device}")


def host_memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
