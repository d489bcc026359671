"""Puts a model back to where it was before some steps were tried."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from .conditions import RandomState
from .devices import Device


class _Kept:
    """A copy of a tensor, outside the device's memory."""

    def __init__(self, tensor: Tensor, device: Device):
        self._tensor = tensor
        size = tensor.numel() * tensor.element_size()
        self._copy = device.host_bytes(size).view(tensor.dtype).view(tensor.shape)
        self._copy.copy_(tensor.detach())

    def put_back(self) -> None:
        with torch.no_grad():
            self._tensor.copy_(self._copy)


class Restoration:
    """Trained parameters, buffers, gradients, states of the optimizers that step meanwhile, and the random state.

    What else a training step changes (schedulers, scalers, data loaders) goes on.
    """

    def __init__(self, model: nn.Module, device: Device):
        self._device = device
        self._random = RandomState(device.torch)
        trained = [p for p in model.parameters() if p.requires_grad]
        self._tensors = [_Kept(tensor, device) for tensor in [*trained, *model.buffers()] if tensor.numel() > 0]
        self._gradients = [(p, None if p.grad is None else _Kept(p.grad, device), p.grad) for p in trained]
        self._optimizers: dict[int, tuple[Optimizer, list[_Kept], dict[Any, dict[str, Any]]]] = {}
        self._hook = register_optimizer_step_pre_hook(self._before_step)

    def _before_step(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        if id(optimizer) in self._optimizers:
            return
        states = {parameter: dict(state) for parameter, state in optimizer.state.items()}
        tensors = [value for state in states.values() for value in state.values() if isinstance(value, Tensor)]
        kept = [_Kept(tensor, self._device) for tensor in tensors if tensor.numel() > 0]
        self._optimizers[id(optimizer)] = optimizer, kept, states

    def put_back(self) -> None:
        self._hook.remove()
        self._device.finish()
        for tensor in self._tensors:
            tensor.put_back()
        for parameter, kept, gradient in self._gradients:
            parameter.grad = gradient
            if kept is not None:
                kept.put_back()
        for optimizer, kept_states, states in self._optimizers.values():
            for tensor in kept_states:
                tensor.put_back()
            optimizer.state.clear()
            optimizer.state.update(states)
        self._random.restore()
