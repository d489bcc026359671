"""What is measured is what is there, and nothing is left behind."""

import pytest
import torch
from small_model import Model, loss_of, make
from torch import nn

import stowage
from stowage.blocks import find_blocks, scope_modules


def test_what_a_block_keeps(measured):
    """Two states of 8 and 24 tokens, batch 2, width 32, in one piece of memory: 2 * 32 * 32 floats."""
    state = 2 * 32 * 32 * 4
    block = measured.blocks[2]
    assert block["name"] == "blocks.2"
    assert block["input_bytes"] == state
    parameters = sum(p.numel() for p in Model().blocks[2].parameters()) * 4
    assert parameters <= block["weight_bytes"] < 1.1 * parameters
    assert block["gradient_bytes"] == pytest.approx(parameters, rel=0.1)
    scopes = {tensor["scope"] for tensor in block["saved"]}
    assert scopes == {"attention", "ffn", "other"}
    hidden = [t["bytes"] for t in block["saved"] if t["scope"] == "ffn"]
    assert hidden.count(4 * state) >= 2  # before and after the GELU


def test_a_frozen_block_leaves_small_gradients(measured_frozen):
    block = measured_frozen.blocks[2]
    assert block["gradient_bytes"] < 0.2 * block["weight_bytes"]


def test_everything_is_put_back():
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())
    state, random = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()

    def step():
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()

    stowage.profile(model, step, repeats=1)
    assert all(torch.equal(state[k], v) for k, v in model.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert not optimizer.state and all(p.grad is None for p in model.parameters())
    assert not any("forward" in vars(m) or m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_optimizer_states_are_put_back():
    model = make()
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    before = {p: {k: v.clone() for k, v in state.items()} for p, state in optimizer.state.items()}
    stowage.profile(model, step, repeats=1)
    for parameter, state in before.items():
        assert all(torch.equal(state[key], optimizer.state[parameter][key]) for key in state)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda model: None, "none of the model's blocks"),
        (lambda model: loss_of(model), "no backward"),
        (lambda model: [loss_of(model).backward(), loss_of(model).backward()], "more than once"),
    ],
)
def test_steps_that_cannot_be_measured(step, message):
    model = make()
    with pytest.raises(stowage.InputError, match=message):
        stowage.profile(model, lambda: step(model), repeats=1)
    loss_of(model).backward()  # it still trains


def test_blocks_are_found():
    model = nn.Module()
    model.small = nn.ModuleList(nn.Linear(2, 2) for _ in range(9))
    model.double = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
    model.inner = nn.Sequential(nn.Module())
    model.inner[0].single = nn.ModuleList(nn.Linear(64, 64, bias=False) for _ in range(4))
    assert {block.group for block in find_blocks(model)} == {"double", "inner.0.single"}
    assert len(find_blocks(model, "small")) == 9
    with pytest.raises(stowage.InputError, match="has no missing"):
        find_blocks(model, "missing")
    with pytest.raises(stowage.InputError, match="no list of equal blocks"):
        find_blocks(nn.Linear(2, 2))


def test_parts_of_a_block_by_name():
    found = scope_modules(make().blocks[0])
    assert [type(m).__name__ for m in found["attention"]] == ["Attention"]
    assert [type(m).__name__ for m in found["ffn"]] == ["Sequential"]
