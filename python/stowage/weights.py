"""Weights of a block that live on the host, and come to the device for as long as they are used.

A parameter stays the same object and is always good to read: its data lie on the host, or on the device while they are
there. Nothing changes weights between coming and going but, perhaps, the model itself; what it changed goes back.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from . import _core, trees
from .devices import Device
from .lanes import Copy, Lane

ALIGNMENT = 64  # of a tensor that torch makes; kernels may depend on it


class BlockWeights:
    """Those of one block, packed into one buffer."""

    def __init__(self, name: str, parameters: Iterable[nn.Parameter], device: Device, lane: Lane):
        """Moves them to the host."""
        self.name = name
        self._device = device
        self._lane = lane
        self._places: list[tuple[nn.Parameter, int, int]] = []
        self.bytes = 0
        for parameter in parameters:
            self._places.append((parameter, self.bytes, parameter.numel() * parameter.element_size()))
            self.bytes += packed_bytes([parameter])
        self._host = device.host_bytes(self.bytes)
        self._on_device: Tensor | None = None
        self._load: Copy | None = None
        self._here = False
        self._versions: list[int] = []
        for parameter, _, _ in self._places:
            device.finish()
            self._view(parameter, self._host).copy_(parameter.data)
        self._point_to(self._host)

    @property
    def parameters(self) -> list[nn.Parameter]:
        return [parameter for parameter, _, _ in self._places]

    def start_load(self) -> None:
        """Makes room on the device and begins to copy, unless they are there or on their way."""
        if self._on_device is None:
            self._on_device = self._device.bytes(self.bytes)
            self._load = self._lane.submit(self._on_device, self._host)

    def arrive(self) -> None:
        """They are on the device for what is computed from now on."""
        if self._here:
            return
        self.start_load()
        assert self._on_device is not None and self._load is not None
        self._load.wait()
        self._point_to(self._on_device)
        self._versions = [parameter._version for parameter in self.parameters]
        self._here = True

    def drop(self) -> None:
        """Their device memory is free."""
        if self._here:
            changed = [p for p, version in zip(self.parameters, self._versions, strict=True) if p._version != version]
            for parameter in changed:
                self._view(parameter, self._host).copy_(parameter.data)
            self._point_to(self._host)
        elif self._load is not None:
            self._load.finish()
        self._on_device, self._load, self._here = None, None, False

    def bring_home(self) -> None:
        """For good: each parameter gets memory of its own on the device again."""
        self.drop()
        for parameter, _, _ in self._places:
            parameter.data = torch.empty_strided(
                parameter.shape, parameter.stride(), dtype=parameter.dtype, device=self._device.torch
            ).copy_(parameter.data)
        self._places = []
        self._device.give_back(self._host)

    def recipe(self, tensor: Tensor) -> Recipe | None:
        """How to make the tensor again if it is a view of these weights, which may go meanwhile."""
        if self._on_device is None or trees.storage_key(tensor) != self._on_device.untyped_storage().data_ptr():
            return None
        return Recipe(self, tensor)

    def again(self, dtype: torch.dtype, shape: torch.Size, stride: tuple[int, ...], offset: int) -> Tensor:
        self.arrive()
        assert self._on_device is not None
        return torch.empty(0, dtype=dtype, device=self._device.torch).set_(
            self._on_device.untyped_storage(), offset, shape, stride
        )

    def _view(self, parameter: nn.Parameter, memory: Tensor) -> Tensor:
        for each, begin, size in self._places:
            if each is parameter:
                flat = memory[begin : begin + size].view(parameter.dtype)
                return flat.as_strided(parameter.shape, parameter.stride(), flat.storage_offset())
        raise KeyError(parameter)

    def _point_to(self, memory: Tensor) -> None:
        for parameter, _, _ in self._places:
            parameter.data = self._view(parameter, memory)


def packed_bytes(parameters: Iterable[nn.Parameter]) -> int:
    """What they take in one buffer."""
    sizes = (parameter.numel() * parameter.element_size() for parameter in parameters)
    return sum((size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT for size in sizes)


class Recipe:
    """What autograd holds instead of a view of weights."""

    __slots__ = ("_weights", "_layout")

    def __init__(self, weights: BlockWeights, tensor: Tensor):
        self._weights = weights
        self._layout = (tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset())

    def tensor(self) -> Tensor:
        return self._weights.again(*self._layout)


def movable(block: nn.Module, shared: set[int]) -> list[nn.Parameter]:
    """What a block swap moves: frozen weights where only adapters train, else all; never what other parts share.

    Raises InputError for weights that cannot be moved as they are.
    """
    own = {id(p): p for p in block.parameters() if id(p) not in shared and p.numel() > 0}
    frozen = [p for p in own.values() if not p.requires_grad]
    chosen = frozen or list(own.values())
    for name, parameter in block.named_parameters():
        if id(parameter) in {id(p) for p in chosen}:
            reason = immovable(parameter)
            if reason:
                raise _core.InputError(f"{name} {reason}")
    return chosen


def immovable(parameter: nn.Parameter) -> str | None:
    """Why the parameter cannot be moved; None if it can. Payloads of any type move if they are plain tensors."""
    if type(parameter) is not nn.Parameter or type(parameter.data) is not Tensor:
        kind = type(parameter) if type(parameter) is not nn.Parameter else type(parameter.data)
        return f"is a {kind.__name__}, which is more than its memory"
    if parameter.layout is not torch.strided:
        return f"is {parameter.layout}"
    if torch.empty_like(parameter.data, device="meta").stride() != parameter.stride():
        return "is a view that overlaps itself or has gaps"
    return None
