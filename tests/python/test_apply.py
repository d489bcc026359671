"""A plan changes memory and time, and nothing else."""

import copy
import gc
import random

import pytest
import torch
from plan_kinds import FROZEN_SWAPS, KINDS, SWAPS
from small_model import batch, gradients, loss_of, make, same, train
from torch import nn

import stowage
from stowage import Settings


def plan_for(settings, profile):
    return settings.plan(profile)


@pytest.mark.parametrize("settings", [*KINDS.values(), *SWAPS.values()], ids=[*KINDS, *SWAPS])
def test_training_is_the_same_bit_for_bit(settings, measured):
    plain, planned = make(), make()
    expected = train(plain)
    with stowage.apply(plan_for(settings, measured), planned):
        losses, grads, state = train(planned)
    assert losses == expected[0]
    assert same(grads, expected[1]) and same(state, expected[2])
    assert same(planned.state_dict(), plain.state_dict())


@pytest.mark.parametrize("settings", [*KINDS.values(), *FROZEN_SWAPS.values()], ids=[*KINDS, *FROZEN_SWAPS])
def test_adapters_train_the_same(settings, measured_frozen):
    plain, planned = make(frozen=True), make(frozen=True)
    expected = train(plain)
    with stowage.apply(plan_for(settings, measured_frozen), planned):
        losses, grads, state = train(planned)
    assert losses == expected[0] and same(grads, expected[1]) and same(state, expected[2])


@pytest.mark.parametrize("settings", [KINDS["recompute in pairs"], KINDS["offload"], SWAPS["swap and recompute"]])
def test_memory_is_what_was_predicted(settings, measured):
    """The last backward of a model this small is as much as all blocks: what a plan cannot lower stays in the figure."""
    gc.collect()
    model = make()
    machine = stowage.Machine.of("fast", device="1GiB", host="1GiB", h2d=1e12, latency_ns=0)
    peaks = []
    for plan in (Settings().plan(measured), plan_for(settings, measured)):
        before = stowage.arena.live()
        with stowage.apply(plan, model):
            for _ in range(2):
                stowage.arena.take_peak()
                loss_of(model).backward()
                peak = stowage.arena.take_peak()
                model.zero_grad()
        gc.collect()
        assert stowage.arena.live() == before
        peaks.append((stowage.simulate(measured, machine, plan).peak_bytes, peak - before))
    (kept, kept_measured), (predicted, peak) = peaks
    assert kept - predicted == pytest.approx(kept_measured - peak, rel=0.1)


def test_a_budget_that_training_without_a_plan_exceeds(measured):
    model = make()
    expected = train(copy.deepcopy(model), steps=1)
    gc.collect()
    before = stowage.arena.live()
    stowage.arena.take_peak()
    loss_of(model).backward()
    peak = stowage.arena.take_peak()
    model.zero_grad()
    stowage.arena.set_budget(before + (peak - before) * 3 // 4)
    try:
        with pytest.raises((RuntimeError, torch.OutOfMemoryError)):
            loss_of(model).backward()
        model.zero_grad()
        with stowage.apply(Settings(policy="recompute").plan(measured), model):
            torch.manual_seed(5)
            assert loss_of(model, batch(0)).item() == expected[0][0]
            loss_of(model).backward()
    finally:
        stowage.arena.set_budget(None)


def test_micro_batches_add_up(measured):
    def accumulate(model):
        torch.manual_seed(3)
        for number in range(3):
            (loss_of(model, batch(number)) / 3).backward()
        return gradients(model)

    expected = accumulate(make())
    for settings in (*KINDS.values(), *SWAPS.values()):
        planned = make()
        with stowage.apply(plan_for(settings, measured), planned):
            assert same(accumulate(planned), expected), settings


def test_two_forwards_before_their_backwards(measured):
    def both(model):
        torch.manual_seed(3)
        first, second = loss_of(model, batch(0)), loss_of(model, batch(1))
        first.backward()
        second.backward()
        return gradients(model)

    expected = both(make())
    for settings in (*KINDS.values(), *SWAPS.values()):
        planned = make()
        with stowage.apply(plan_for(settings, measured), planned):
            assert same(both(planned), expected), settings


def test_autocast_and_scaling(measured):
    def step(model):
        torch.manual_seed(3)
        scaler = torch.amp.GradScaler("cpu")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.item(), gradients(model)

    loss, expected = step(make())
    for settings in (*KINDS.values(), *SWAPS.values()):
        planned = make()
        with stowage.apply(plan_for(settings, measured), planned):
            found = step(planned)
        assert found[0] == loss and same(found[1], expected), settings


def test_graphs_that_are_kept(measured):
    def twice(model):
        torch.manual_seed(3)
        loss = loss_of(model)
        loss.backward(retain_graph=True)
        loss.backward()
        return gradients(model)

    expected = twice(make())
    for settings in (*KINDS.values(), *SWAPS.values()):
        planned = make()
        with stowage.apply(plan_for(settings, measured), planned):
            assert same(twice(planned), expected), settings


@pytest.mark.parametrize("settings", SWAPS.values(), ids=SWAPS)
def test_weights_that_are_away_can_be_saved_loaded_copied_and_evaluated(settings, measured):
    model, other = make(), make(seed=9)
    with torch.no_grad():
        expected = loss_of(copy.deepcopy(other).eval()).item()
    with stowage.apply(plan_for(settings, measured), model):
        loss_of(model).backward()
        model.load_state_dict(other.state_dict())
        assert same(model.state_dict(), other.state_dict())
        average = copy.deepcopy(model)
        assert all("forward" not in vars(m) or m.forward.__self__ is m for m in average.modules())
        with torch.no_grad():
            assert loss_of(model.eval()).item() == expected
            assert loss_of(average.eval()).item() == expected
        loss_of(model.train()).backward()
        with torch.no_grad():
            model.blocks[5].gate.weight.zero_()
        assert average.blocks[5].gate.weight.any()
    assert same(
        {k: v for k, v in model.state_dict().items() if k != "blocks.5.gate.weight"},
        {k: v for k, v in other.state_dict().items() if k != "blocks.5.gate.weight"},
    )


def test_weights_of_swapped_blocks_leave_the_device(measured):
    model = make()
    weights = sum(block["weight_bytes"] for block in measured.blocks)
    before = stowage.arena.live()
    plan = Settings(swap_blocks=5, swap_mode="two-way").plan(measured)
    with stowage.apply(plan, model):
        away = before - stowage.arena.live()
        assert away == pytest.approx(weights * 5 / 6, rel=0.05)
        loss_of(model).backward()
        model.zero_grad()
        assert before - stowage.arena.live() == away
    assert stowage.arena.live() == before


class Failure(Exception):
    pass


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_failure_leaves_the_model_usable(where, measured):
    def fail(*_):
        raise Failure

    expected = train(make())
    for settings in (*KINDS.values(), *SWAPS.values()):
        model = make()
        with stowage.apply(plan_for(settings, measured), model):
            if where == "forward":
                hook = model.blocks[3].mlp.register_forward_hook(fail)
            else:
                hook = model.blocks[3].norm1.register_full_backward_hook(fail)
            with pytest.raises(Failure):
                loss_of(model).backward()
            hook.remove()
            model.zero_grad()
            losses, grads, _ = train(model)
        assert losses == expected[0] and same(grads, expected[1]), settings


def test_a_hundred_plans_leave_nothing_behind(measured):
    draw = random.Random(7)
    model = make()
    identities = [id(p) for p in model.parameters()]
    state = {k: v.clone() for k, v in model.state_dict().items()}
    kinds = [*KINDS.values(), *SWAPS.values()]
    levels = []
    for _ in range(100):
        with stowage.apply(plan_for(draw.choice(kinds), measured), model):
            if draw.random() < 0.5:
                loss_of(model).backward()
                model.zero_grad()
        gc.collect()
        levels.append(stowage.arena.live())
    assert len(set(levels)) == 1
    assert [id(p) for p in model.parameters()] == identities and same(model.state_dict(), state)
    assert not any("forward" in vars(module) for module in model.modules())


def test_what_is_refused(measured):
    compiled = make()
    compiled.blocks[2].compile(backend="eager")
    quantised = make(frozen=True)
    quantised.blocks[5].gate.weight = nn.Parameter(Odd(torch.zeros(32, 32)), requires_grad=False)
    for parameter in quantised.blocks[5].parameters():
        parameter.requires_grad_(False)
    short = make()
    del short.blocks[5]
    checkpointing = make()
    checkpointing.gradient_checkpointing = True
    under_plan = make()
    plan = Settings(policy="recompute").plan(measured)
    with stowage.apply(plan, under_plan):
        for model, settings, message in [
            (compiled, Settings(policy="recompute"), r"blocks\.2: is compiled"),
            (quantised, Settings(swap_blocks=1), r"0 of 1 blocks can be offloaded: blocks\.5\.gate.weight is a Odd"),
            (short, Settings(), r"another model"),
            (under_plan, Settings(), r"under a plan already"),
            (checkpointing, Settings(), r"its own gradient checkpointing is on"),
            (make(), Settings(policy="offload", pinned_max_bytes=5), r"pinned"),
        ]:
            with pytest.raises(stowage.InputError, match=message):
                stowage.apply(plan_for(settings, measured), model)


class Odd(torch.Tensor):
    """A tensor that may be more than its memory."""


def test_a_block_that_changes_when_it_runs_again_is_named(measured):
    model = make()
    calls = []
    model.blocks[1].attn.register_forward_hook(lambda m, a, out: out if calls.append(0) or len(calls) == 1 else out.exp())
    with stowage.apply(Settings(policy="recompute").plan(measured), model):
        with pytest.raises(RuntimeError, match=r"blocks\.1"):
            loss_of(model).backward()


def test_quantised_payloads_move_whole():
    """Integers and scales are parameters like others, and come back as they were."""

    class Quantised(nn.Module):
        def __init__(self):
            super().__init__()
            self.payload = nn.Parameter(torch.randint(-99, 99, (32, 32), dtype=torch.int8), requires_grad=False)
            self.scale = nn.Parameter(torch.rand(32), requires_grad=False)
            self.adapter = nn.Linear(32, 32)

        def forward(self, x):
            return x + self.adapter(x @ (self.payload * self.scale))

    def train_once(model):
        x = torch.ones(4, 32)
        for block in model:
            x = block(x)
        x.square().mean().backward()
        return gradients(model)

    torch.manual_seed(0)
    model = nn.ModuleList(Quantised() for _ in range(4))
    holder = nn.Module()
    holder.blocks = model

    def step():
        train_once(model)
        model.zero_grad()

    profile = stowage.profile(holder, step, repeats=1)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    expected = train_once(model)
    model.zero_grad()
    with stowage.apply(Settings(swap_blocks=3).plan(profile), holder):
        assert same(train_once(model), expected)
        assert model[3].payload.dtype is torch.int8
    assert same(before, dict(model.state_dict()))
