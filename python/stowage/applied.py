"""Applies a plan to a model: what autograd keeps, where weights live, and how both come back."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from . import _core, trees
from .blocks import scope_modules
from .conductor import Conductor
from .devices import Device, device_of
from .plans import Plan
from .saved import SavedPass, StorageList, unpack
from .segments import Rerun, Watcher
from .weights import BlockWeights, movable


class PlannedForward:
    """Stands in for a module's forward. A copy of the module gets the plain forward."""

    def __init__(self, module: nn.Module, run: Callable[[tuple, dict], Any]):
        self.module = module
        self.plain = module.forward
        self._own = module.__dict__.get("forward")  # what an earlier wrapper has put there
        self._run = run
        functools.update_wrapper(self, self.plain)
        module.forward = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs)

    def remove(self) -> None:
        if self._own is None:
            del self.module.__dict__["forward"]
        else:
            self.module.forward = self._own

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.plain, memo)

    def __reduce__(self) -> Any:
        raise TypeError("a model is pickled without its plan: remove() it first, or save the state_dict")


class _LiveBlock:
    """A block under a plan, and what its decision says."""

    def __init__(self, live: Applied, index: int, name: str, decision: dict[str, Any]):
        self._live = live
        self.index = index
        self.name = name
        self.module = live.model.get_submodule(name)
        self.scope: str | None = decision.get("scope")
        self.recomputed = decision["activation"] == "recompute" and self.scope is None
        self.segment = decision["segment"]
        self.offload = live.storages_of(index, decision["offload"])
        self.offload_input: bool = decision.get("offload_input", False)
        self.weights: BlockWeights | None = None
        self._forwards: list[PlannedForward] = []

    def install(self, events: bool) -> None:
        if self.recomputed or self.offload or self.weights or events:
            self._forwards.append(PlannedForward(self.module, self._run))
        if self.scope is not None:
            for module in scope_modules(self.module)[self.scope]:
                self._forwards.append(PlannedForward(module, functools.partial(self._run_part, len(self._forwards))))

    def remove(self) -> None:
        for forward in reversed(self._forwards):
            forward.remove()
        self._forwards = []

    @property
    def plain(self) -> Callable[..., Any]:
        return self._forwards[0].plain

    def _run(self, args: tuple, kwargs: dict) -> Any:
        conductor = self._live.conductor
        if not torch.is_grad_enabled():
            return self._evaluate(args, kwargs)
        if conductor is None:
            return self._train(args, kwargs)[0]
        try:
            number = conductor.forward_begins(self.index)
            keys = self._keys(args, kwargs) if conductor.offloads_inputs else []
            if conductor.offloads_inputs:
                conductor.called_with(self.index, keys)
            result, travellers = self._train(args, kwargs)
        except BaseException:
            conductor.break_off()
            raise
        rerun = self._live.stretch.get(self.segment) if self.recomputed else None
        if self.offload_input and rerun is not None and self._live.first_of(self) is self:
            conductor.input_of(self.index, rerun, keys)
        self._live.forget_finished(self)
        self._announce_backward(conductor, number, args, kwargs, result)
        conductor.forward_ends(self.index, travellers)
        return result

    def _evaluate(self, args: tuple, kwargs: dict) -> Any:
        if self.weights is None:
            return self.plain(*args, **kwargs)
        self.weights.arrive()
        try:
            return self.plain(*args, **kwargs)
        finally:
            self.weights.drop()

    def _train(self, args: tuple, kwargs: dict) -> tuple[Any, dict]:
        if self.recomputed:
            result = self._live.rerun_for(self).forward(self.name, self.plain, args, kwargs)
            if self._live.conductor is None:
                self._live.forget_finished(self)
            return result, {}
        if not self.offload and self.weights is None:
            return self.plain(*args, **kwargs), {}
        assert self._live.conductor is not None
        inputs = trees.storage_keys(trees.tensors_in((args, kwargs))) if self.offload else ()
        storages = StorageList(self._live.model_keys, inputs)
        lane = self._live.conductor.to_device
        saved = SavedPass(self.name, self._live.device, lane, storages, self.offload, self.weights)
        with saved_tensors_hooks(saved.pack, unpack):
            result = self.plain(*args, **kwargs)
        saved.finish()
        return result, saved.travellers

    def _run_part(self, forward: int, args: tuple, kwargs: dict) -> Any:
        plain = self._forwards[forward].plain
        if not torch.is_grad_enabled():
            return plain(*args, **kwargs)
        rerun = Rerun(self._live.device.torch, _PartWatcher(self.weights))
        return rerun.forward(f"{self.name}, its {self.scope}", plain, args, kwargs)

    def _announce_backward(self, conductor: Conductor, number: int, args: tuple, kwargs: dict, result: Any) -> None:
        """The graph says when the backward comes to what the block has made."""
        first = self._live.first_of(self)
        is_last = self.recomputed and self._live.last_of(self) is self
        again_from = first.index if is_last else self.index if self.scope is not None else None
        begun = False

        def begins(_: Any) -> None:
            nonlocal begun
            if not begun:
                begun = True
                conductor.backward_begins(self.index, number, again_from)
                if self.scope is not None:
                    conductor.has_run_again(self.index)

        entered = {id(tensor) for tensor in trees.tensors_in((args, kwargs))}
        for output in trees.tensors_in(result):
            if output.grad_fn is not None and id(output) not in entered:
                output.grad_fn.register_prehook(begins)

    @staticmethod
    def _keys(args: tuple, kwargs: dict) -> list[int | None]:
        leaves, _ = trees.flatten((args, kwargs))
        return [trees.storage_key(leaf) if isinstance(leaf, Tensor) else None for leaf in leaves]


class _PartWatcher(Watcher):
    """Of a part of a block: the block's weights must be there."""

    def __init__(self, weights: BlockWeights | None):
        self._weights = weights

    def begins(self, position: int) -> None:
        if self._weights is not None:
            self._weights.arrive()


class _SegmentWatcher(Watcher):
    """Of whole blocks: the program goes on with them."""

    def __init__(self, live: Applied, members: list[_LiveBlock]):
        self._live = live
        self._members = members

    def begins(self, position: int) -> None:
        if self._live.conductor is not None:
            self._live.conductor.runs_again(self._members[position].index)

    def has_run(self) -> None:
        if self._live.conductor is not None:
            self._live.conductor.has_run_again(self._members[-1].index)


class Applied:
    """A plan in force: from apply() until remove(), or for as long as it is open as a context."""

    def __init__(self, plan: Plan, model: nn.Module):
        self.plan = plan
        self.model = model
        self.device: Device = device_of(model)
        self.conductor: Conductor | None = None
        self.stretch: dict[int, Rerun] = {}
        self.model_keys: set[int] = set()
        prefix = find_prefix(model, [block["name"] for block in plan.profile.blocks])
        refuse_what_cannot_run(plan, model)
        decisions = plan.decisions
        self._profile_blocks = plan.profile.blocks
        self.blocks = [
            _LiveBlock(self, index, prefix + block["name"], decision)
            for index, (block, decision) in enumerate(zip(self._profile_blocks, decisions, strict=True))
        ]
        for block in self.blocks:
            refuse_block(block.name, block.module)
        self._by_segment: dict[int, list[_LiveBlock]] = {}
        for block in self.blocks:
            if block.recomputed:
                self._by_segment.setdefault(block.segment, []).append(block)
        self._install(plan, decisions)

    def _install(self, plan: Plan, decisions: list[dict[str, Any]]) -> None:
        swapped = [block for block, decision in zip(self.blocks, decisions, strict=True)
                   if decision["weights"] != "resident"]  # fmt: skip
        chosen = self._choose_weights(swapped)
        travels = swapped or any(block.offload or block.offload_input for block in self.blocks)
        if travels:
            weights: dict[int, BlockWeights] = {}
            self.conductor = Conductor(one_pass(plan).program(), weights, self.device)
            for block, parameters in zip(swapped, chosen, strict=True):
                block.weights = BlockWeights(block.name, parameters, self.device, self.conductor.to_device)
                weights[block.index] = block.weights
        self.model_keys = trees.storage_keys([*self.model.parameters(), *self.model.buffers()])
        for block in self.blocks:
            block.install(events=bool(travels))

    def remove(self) -> None:
        """The model is as it was: the same parameters, on the device, and the same forwards. A second call does nothing."""
        for block in self.blocks:
            block.remove()
        if self.conductor is not None:
            self.conductor.close()
            self.conductor = None
        for block in self.blocks:
            if block.weights is not None:
                block.weights.bring_home()
        self.blocks, self._by_segment = [], {}  # which refer to this
        self.stretch.clear()

    def __enter__(self) -> Applied:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    # --- what blocks ask ------------------------------------------------------------------------------------------------

    def storages_of(self, block: int, offload: list[int | str]) -> frozenset[int]:
        """Numbers of storages that a plan calls by the name of their first tensor, or by number."""
        first: dict[object, str] = {}
        for position, tensor in enumerate(self._profile_blocks[block].get("saved", [])):
            first.setdefault(tensor.get("storage", position), tensor["name"])
        names = list(first.values())
        return frozenset(item if isinstance(item, int) else names.index(item) for item in offload)

    def first_of(self, block: _LiveBlock) -> _LiveBlock:
        return self._by_segment[block.segment][0] if block.recomputed else block

    def last_of(self, block: _LiveBlock) -> _LiveBlock:
        return self._by_segment[block.segment][-1] if block.recomputed else block

    def rerun_for(self, block: _LiveBlock) -> Rerun:
        """The pass through the block's segment, to which this block is next."""
        members = self._by_segment[block.segment]
        position = members.index(block)
        rerun = self.stretch.get(block.segment)
        if position == 0 or rerun is None or rerun.length != position:
            rerun = self.stretch[block.segment] = Rerun(self.device.torch, _SegmentWatcher(self, members[position:]))
        return rerun

    def forget_finished(self, block: _LiveBlock) -> None:
        """Only its graph holds a segment that is complete."""
        if block.recomputed and self._by_segment[block.segment][-1] is block:
            self.stretch.pop(block.segment, None)

    # --- weights ----------------------------------------------------------------------------------------------------------

    def _choose_weights(self, swapped: list[_LiveBlock]) -> list[list[nn.Parameter]]:
        shared = shared_parameters(self.model, [block.module for block in self.blocks])
        chosen, reasons = [], []
        for block in swapped:
            try:
                chosen.append(movable(block.module, shared))
            except _core.InputError as error:
                reasons.append(f"{block.name}.{error}")
        if reasons:
            raise _core.InputError(f"{len(chosen)} of {len(swapped)} blocks can be offloaded: {reasons[0]}")
        return chosen


def apply(plan: Plan, model: nn.Module) -> Applied:
    """Carries out the plan whenever the model trains, until the answer is removed or left as a context.

    Losses, gradients and random numbers are those of training without it. Raises InputError where the plan is for another
    model, or asks for what cannot be done; nothing has changed then.
    """
    return Applied(plan, model)


def one_pass(plan: Plan) -> Plan:
    """The same for one micro-batch: each forward and its backward are a pass of their own here."""
    content = plan.to_dict()
    content["step"]["accumulate"] = 1
    if content["settings"]:
        content["settings"]["accumulate"] = 1
    return Plan(json.dumps(content), plan.profile)


def find_prefix(model: nn.Module, names: list[str]) -> str:
    """What stands before the blocks' names in this model: it may have been wrapped since it was profiled."""
    modules = dict(model.named_modules())
    for path in modules:
        if path == names[0] or path.endswith("." + names[0]):
            prefix = path.removesuffix(names[0])
            if all(prefix + name in modules for name in names):
                return prefix
    for outer in ("module.", "base_model.model.", "_orig_mod."):
        if all(name.removeprefix(outer) in modules for name in names):
            raise _core.InputError(f"model: the profile is of a model that was wrapped ({outer}); profile this one")
    raise _core.InputError(f"model: has no {names[0]}: the plan is for another model")


def refuse_what_cannot_run(plan: Plan, model: nn.Module) -> None:
    content = plan.to_dict()
    transfer, step = content["transfer"], content["step"]
    if any(block["weights"] == "stream" for block in content["blocks"]):
        raise _core.InputError("plan: layers do not stream in Python; use swap_mode h2d")
    if transfer["max_buckets"] is not None or transfer["pinned_max_bytes"] is not None:
        raise _core.InputError("plan: limits on pinned buffers are not kept in Python")
    if transfer.get("disk_over_bytes") is not None:
        raise _core.InputError("plan: Python uses no disk")
    if step["optimizer"] != "device":
        raise _core.InputError("plan: in Python the optimizer runs where its parameters are")
    if any(getattr(module, "gradient_checkpointing", False) is True for module in model.modules()):
        raise _core.InputError("model: its own gradient checkpointing is on; the plan decides what is recomputed")


def refuse_block(name: str, module: nn.Module) -> None:
    if isinstance(module.__dict__.get("forward"), PlannedForward):
        raise _core.InputError(f"{name}: is under a plan already; remove() that one first")
    compiled = getattr(module, "_compiled_call_impl", None) is not None
    if compiled or type(module).__name__ == "OptimizedModule":
        raise _core.InputError(f"{name}: is compiled as a whole, which hides what it saves; compile its submodules")


def shared_parameters(model: nn.Module, blocks: list[nn.Module]) -> set[int]:
    """Of the blocks' parameters those that something else has, too."""
    owners: dict[int, int] = {}
    seen_outside: set[int] = set()
    inside = {id(module) for block in blocks for module in block.modules()}
    for module in model.modules():
        if id(module) not in inside:
            seen_outside.update(id(p) for p in module.parameters(recurse=False))
    for block in blocks:
        for key in {id(p) for p in block.parameters()}:
            owners[key] = owners.get(key, 0) + 1
    return seen_outside | {key for key, count in owners.items() if count > 1}


