"""Finds a model's blocks: the lists of equal modules that hold most of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import nn

from . import _core

# A list that holds less than this part of what the largest list holds is no part of the chain.
LEAST_SHARE = 0.1

SCOPES = {
    "attention": re.compile(r"attn|attention", re.IGNORECASE),
    "ffn": re.compile(r"(^|[._])(ff|ffn|mlp|feed_?forward|experts|moe)([._\d]|$|_)", re.IGNORECASE),
}


@dataclass(frozen=True)
class Block:
    name: str  # as model.get_submodule() has it
    group: str  # the name of its list
    module: nn.Module


def find_blocks(model: nn.Module, chosen: str | Sequence[str] | None = None) -> list[Block]:
    """In the order of the model's lists; the order of calls is known once it has run.

    `chosen`: names of lists, instead of those found. Raises InputError where there are none.
    """
    lists = _named_lists(model, [chosen] if isinstance(chosen, str) else chosen) if chosen else _largest_lists(model)
    blocks = [
        Block(f"{name}.{position}", name, module)
        for name, modules in lists
        for position, module in enumerate(modules)
    ]
    if not blocks:
        raise _core.InputError(f"model: {type(model).__name__} has no list of equal blocks; name one with blocks=")
    return blocks


def scope_modules(block: nn.Module) -> dict[str, list[nn.Module]]:
    """The submodules that are a block's attention, and those that are its feed-forward; outermost ones, by name."""
    found: dict[str, list[nn.Module]] = {scope: [] for scope in SCOPES}
    taken: list[str] = []
    for name, module in block.named_modules():
        if not name or any(name == outer or name.startswith(outer + ".") for outer in taken):
            continue
        last = name.rsplit(".", 1)[-1]
        scope = next((scope for scope, pattern in SCOPES.items() if pattern.search(last)), None)
        if scope is None or re.search(r"norm", last, re.IGNORECASE):
            continue
        if isinstance(module, nn.ModuleList | nn.ModuleDict):
            continue  # is never called itself
        taken.append(name)
        found[scope].append(module)
    return found


def parameter_bytes(modules: Iterable[nn.Module]) -> int:
    unique = {id(p): p for module in modules for p in module.parameters()}
    return sum(p.numel() * p.element_size() for p in unique.values())


def _named_lists(model: nn.Module, names: Sequence[str]) -> list[tuple[str, list[nn.Module]]]:
    found = []
    for name in names:
        try:
            module = model.get_submodule(name)
        except AttributeError as error:
            raise _core.InputError(f"blocks: the model has no {name}") from error
        if not isinstance(module, nn.ModuleList | nn.Sequential):
            raise _core.InputError(f"blocks: {name} is a {type(module).__name__}, not a list of modules")
        found.append((name, list(module)))
    return found


def _largest_lists(model: nn.Module) -> list[tuple[str, list[nn.Module]]]:
    lists = list(_outermost_lists(model, ""))
    weights = [parameter_bytes(modules) for _, modules in lists]
    least = LEAST_SHARE * max(weights, default=0)
    return [each for each, weight in zip(lists, weights, strict=True) if weight > 0 and weight >= least]


def _outermost_lists(module: nn.Module, prefix: str) -> Iterable[tuple[str, list[nn.Module]]]:
    for name, child in module.named_children():
        path = f"{prefix}{name}"
        members = list(child) if isinstance(child, nn.ModuleList) else []
        if len(members) > 1 and len({type(member) for member in members}) == 1:
            yield path, members
        else:
            yield from _outermost_lists(child, path + ".")
