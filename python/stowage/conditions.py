"""What a forward depends on beside its inputs and parameters: the random state and autocast."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor


class RandomState:
    """Of the CPU, and of a CUDA device where that computes. Kept outside torch's memory, which is counted."""

    def __init__(self, device: torch.device):
        self._device = device if device.type == "cuda" else None
        self._host = _content(torch.get_rng_state())
        self._cuda = _content(torch.cuda.get_rng_state(device)) if self._device else None

    def restore(self) -> None:
        torch.set_rng_state(_state(self._host))
        if self._cuda is not None:
            torch.cuda.set_rng_state(_state(self._cuda), self._device)


def _content(state: Tensor) -> bytes:
    return ctypes.string_at(state.data_ptr(), state.numel())


def _state(content: bytes) -> Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def _autocast(kind: str) -> tuple[bool, torch.dtype, bool]:
    return torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind), torch.is_autocast_cache_enabled()


class Conditions:
    """As they are when this is made."""

    def __init__(self, device: torch.device):
        self._device = device
        self._random = RandomState(device)
        self._autocast = {kind: _autocast(kind) for kind in {device.type, "cpu"}}

    @contextmanager
    def again(self) -> Iterator[None]:
        """As they were then; as they are now afterwards."""
        now = RandomState(self._device)
        with ExitStack() as casts:
            for kind, (enabled, dtype, cache) in self._autocast.items():
                if _autocast(kind) != (enabled, dtype, cache):
                    casts.enter_context(torch.autocast(kind, dtype=dtype, enabled=enabled, cache_enabled=cache))
            try:
                self._random.restore()
                yield
            finally:
                now.restore()
