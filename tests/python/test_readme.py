"""The example of the README, as written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_the_example_trains_within_a_budget_that_training_without_a_plan_exceeds():
    pytest.importorskip("diffusers")
    text = README.read_text()
    example = re.search(r"```python\n(import torch, stowage.*?)```", text, re.DOTALL)[1]
    done = run("import torch; torch.set_num_threads(1)\n" + example)
    assert done.returncode == 0, done.stderr
    sentence, losses = done.stdout.strip().split("\n")[-2:]
    assert "fastest plan" in sentence
    assert eval(losses)[-1] < eval(losses)[0]
    without = run("import torch; torch.set_num_threads(1)\n" + example.split("with stowage")[0] + "step()")
    assert without.returncode == 1 and "device memory" in without.stderr
