"""Tensors inside what modules take and give: tuples, lists, dictionaries, output classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

flatten = _pytree.tree_flatten
unflatten = _pytree.tree_unflatten

PLAIN = (Tensor, torch.nn.Parameter)


def tensors_in(tree: Any) -> list[Tensor]:
    return [leaf for leaf in _pytree.tree_leaves(tree) if isinstance(leaf, Tensor)]


def storage_key(tensor: Tensor) -> int | None:
    """The same for tensors that share memory, while it is in use. None for what is more than a view of memory."""
    if type(tensor) not in PLAIN or tensor.layout is not torch.strided:
        return None
    return tensor.untyped_storage().data_ptr() or None


def storage_keys(tensors: Iterable[Tensor]) -> set[int]:
    return {key for tensor in tensors if (key := storage_key(tensor)) is not None}


def storage_bytes(tensors: Iterable[Tensor]) -> int:
    """Of their storages, each once."""
    return sum({key: t.untyped_storage().nbytes() for t in tensors if (key := storage_key(t)) is not None}.values())
