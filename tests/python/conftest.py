"""The worked example of the design, section 3: four blocks of forward 10 and backward 20, one byte a nanosecond."""

import pytest
import torch
from small_model import loss_of, make

import stowage

BLOCK = {
    "name": "block",
    "count": 4,
    "forward_ns": 10,
    "backward_ns": 20,
    "input_bytes": 2,
    "weight_bytes": 5,
    "gradient_bytes": 1,
    "forward_workspace_bytes": 3,
    "backward_workspace_bytes": 4,
    "saved": [
        {"name": "qkv", "bytes": 12, "scope": "attention"},
        {"name": "hidden", "bytes": 8, "scope": "ffn"},
    ],
}


@pytest.fixture
def profile() -> stowage.Profile:
    return stowage.Profile(
        {
            "format": "stowage.profile",
            "version": 1,
            "name": "example",
            "fixed": {"resident_bytes": 100, "output_bytes": 2, "epilogue_ns": 6, "optimizer_ns": 4},
            "blocks": [BLOCK],
        }
    )


@pytest.fixture
def machine() -> stowage.Machine:
    return stowage.Machine.of("plain", device=1000, host=1000, h2d=1e9, latency_ns=0)


@pytest.fixture(scope="session", autouse=True)
def accounted():
    """Before any model is made."""
    torch.set_num_threads(1)  # a test is small, and others may run
    stowage.arena.install()


@pytest.fixture(scope="session")
def measured(accounted) -> stowage.Profile:
    return _profile_of(frozen=False)


@pytest.fixture(scope="session")
def measured_frozen(accounted) -> stowage.Profile:
    return _profile_of(frozen=True)


def _profile_of(frozen: bool) -> stowage.Profile:
    model = make(frozen=frozen)

    def step():
        loss_of(model).backward()
        model.zero_grad()

    return stowage.profile(model, step, repeats=1)
