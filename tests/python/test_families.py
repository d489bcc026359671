"""Some families with the classes that people train; families.py makes the table of all."""

import pytest

pytest.importorskip("diffusers")
pytest.importorskip("transformers")
pytest.importorskip("peft")

from families import PLANS, examine  # noqa: E402

# What is live under these does not depend on how soon copies end.
EXACT = ("keep", "recompute", "recompute, interval 2")


@pytest.mark.parametrize("name", ["Flux", "Qwen-Image", "Wan", "Llama"])
def test_gradients_are_equal_and_peaks_as_predicted(name):
    result = examine(name)
    assert len(result.rows) == len(PLANS) + 1
    for row in result.rows:
        assert row.equal, row.plan
        assert row.measured <= 1.01 * row.kept, row.plan
        if row.plan in EXACT:
            assert abs(row.error) < 0.02, row.plan
    assert min(row.measured for row in result.rows) < 0.7 * result.rows[0].kept
