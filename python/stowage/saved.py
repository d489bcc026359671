"""What autograd saves of a block's forward, storage by storage, and the storages that travel to the host."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from . import trees
from .devices import Device
from .lanes import Copy, Lane
from .weights import BlockWeights, Recipe


Layout = tuple[torch.dtype, torch.Size, tuple[int, ...], int]


class StorageList:
    """Numbers the storages that a block saves, in the order in which it first saves each.

    What is there anyway is not counted: parameters, buffers, and what comes in from outside.
    """

    def __init__(self, model: Collection[int], inputs: Collection[int]):
        """The storages of the model, and of what comes in; see trees.storage_keys()."""
        self._model = model
        self._inputs = inputs
        self._numbers: dict[int, int] = {}

    def number(self, tensor: Tensor) -> int | None:
        key = trees.storage_key(tensor)
        if key is None or key in self._model or key in self._inputs:
            return None
        return self._numbers.setdefault(key, len(self._numbers))


class Traveller:
    """Memory that goes to the host and comes back. Lives as long as somebody may ask for it."""

    def __init__(self, memory: Tensor, device: Device, back: Lane):
        """`memory` is all of a storage, as bytes; `back` is the lane on which it returns."""
        self._memory: Tensor | None = memory
        self._device = device
        self._back = back
        self._bytes = memory.numel()
        self._host: Tensor | None = None
        self._store: Copy | None = None
        self._restore: Copy | None = None
        self._stays = False

    def send(self, lane: Lane) -> None:
        """Begins to copy it to the host."""
        if self._store is None and self._memory is not None:
            self._host = self._device.host_bytes(self._bytes)
            self._store = lane.submit(self._host, self._memory)

    def let_go(self, wait: bool = False) -> bool:
        """Frees the device's memory if the copy to the host has ended. Whether there is nothing left to free."""
        if self._store is None or self._stays:
            return True
        if not wait and not self._store.ended():
            return False
        self._store.finish()
        self._memory = None
        return True

    def fetch(self) -> None:
        """Begins to bring it back. What has not gone yet just stays."""
        if self._stays:
            return
        self._stays = True
        if self._memory is None:
            assert self._host is not None
            self._memory = self._device.bytes(self._bytes)
            self._restore = self._back.submit(self._memory, self._host, self._store)

    def memory(self) -> Tensor:
        """All of it, on the device, for what is computed from now on."""
        self.fetch()
        if self._restore is not None:
            self._restore.wait()
        assert self._memory is not None
        return self._memory

    def __del__(self) -> None:
        last = self._restore or self._store
        if self._host is not None and last is not None and last.ended():
            self._device.give_back(self._host)


def view_of(memory: Tensor, layout: Layout) -> Tensor:
    dtype, shape, stride, offset = layout
    return torch.empty(0, dtype=dtype, device=memory.device).set_(memory.untyped_storage(), offset, shape, stride)


def layout_of(tensor: Tensor) -> Layout:
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset()


def whole_storage(tensor: Tensor) -> Tensor:
    """All memory that the tensor is a view of, as bytes."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


class SavedPass:
    """Hooks for one forward of one block: storages in `offload` travel, all others stay."""

    def __init__(
        self,
        block: str,
        device: Device,
        back: Lane,
        storages: StorageList,
        offload: Collection[int],
        weights: BlockWeights | None,
    ):
        self.travellers: dict[int, Traveller] = {}
        self._block = block
        self._device = device
        self._back = back
        self._storages = storages
        self._offload = offload
        self._weights = weights
        self._samples: list[tuple[Tensor, int]] = []

    def pack(self, tensor: Tensor) -> Any:
        if self._weights is not None and (recipe := self._weights.recipe(tensor)):
            return recipe
        number = self._storages.number(tensor) if self._offload else None
        if number is None or number not in self._offload:
            return tensor, tensor._version, self._block
        traveller = self.travellers.get(number)
        if traveller is None:
            traveller = Traveller(whole_storage(tensor), self._device, self._back)
            self.travellers[number] = traveller
        self._samples.append((tensor.detach(), tensor._version))
        return traveller, layout_of(tensor)

    def finish(self) -> None:
        """The forward has ended; what travels may go. Raises where it was changed after it had been saved."""
        for tensor, version in self._samples:
            _check_version(tensor, version, self._block)
        self._samples = []


def unpack(packed: Any) -> Tensor:
    if isinstance(packed, Recipe):
        return packed.tensor()
    if len(packed) == 2:
        traveller, layout = packed
        return view_of(traveller.memory(), layout)
    tensor, version, block = packed
    _check_version(tensor, version, block)
    return tensor


def _check_version(tensor: Tensor, version: int, block: str) -> None:
    if tensor._version != version:
        raise RuntimeError(f"{block} changes a tensor in place that its backward needs")
