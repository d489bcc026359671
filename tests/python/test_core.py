"""The core through Python: the same figures as on the command line, as objects."""

import json
import subprocess
import sys

import pytest

import stowage
from stowage import Plan, Profile, Settings

WORKED_EXAMPLE = [
    (Settings(), 130, 0, 217),
    (Settings(policy="recompute"), 170, 0, 157),
    (Settings(policy="recompute", interval=2), 170, 0, 175),
    (Settings(policy="recompute", interval=1, stride=2), 150, 0, 177),
    (Settings(policy="offload"), 186, 56, 212),
    (Settings(policy="offload", prefetch=0), 246, 116, 198),
    (Settings(policy="offload", scope="attention", prefetch=2), 154, 24, 212),
    (Settings(policy="recompute+offload", interval=2), 170, 0, 175),
    (Settings(swap_blocks=3), 130, 0, 212),
    (Settings(policy="recompute", swap_blocks=3, swap_mode="two-way"), 170, 0, 154),
]


@pytest.mark.parametrize(("settings", "step", "stall", "peak"), WORKED_EXAMPLE)
def test_worked_example(profile, machine, settings, step, stall, peak):
    prediction = stowage.simulate(profile, machine, settings)
    assert (prediction.step_ns, prediction.stall_ns, prediction.peak_bytes) == (step, stall, peak)
    assert prediction.timeline.peak_bytes() == peak


def test_tuning_finds_the_fastest_that_fits(profile, machine):
    tuning = stowage.tune(profile, machine, vram=180, free=False)
    assert tuning.best.predicted["peak_bytes"] <= 180
    assert tuning.optimal and not tuning.null_fits
    fitting = [point for point in tuning.frontier if point.peak_bytes <= 180]
    assert min(point.step_ns for point in fitting) == tuning.best.predicted["step_ns"]
    for point in tuning.frontier:
        prediction = stowage.simulate(profile, machine, point.settings)
        assert (prediction.step_ns, prediction.peak_bytes) == (point.step_ns, point.peak_bytes)


def test_plans_without_settings_are_no_slower(profile, machine):
    settled = stowage.tune(profile, machine, vram=180, free=False)
    free = stowage.tune(profile, machine, vram=180)
    assert free.best.predicted["step_ns"] <= settled.best.predicted["step_ns"]
    assert stowage.simulate(profile, machine, free.best).step_ns == free.best.predicted["step_ns"]


def test_what_does_not_fit_says_what_would(profile, machine):
    tuning = stowage.tune(profile, machine, vram=10)
    assert tuning.plan is None
    with pytest.raises(stowage.DoesNotFit, match="least") as refusal:
        tuning.best  # noqa: B018
    enough = stowage.tune(profile, machine, vram=refusal.value.least_bytes)
    assert enough.best.predicted["peak_bytes"] == refusal.value.least_bytes


def test_files_come_back_the_same(profile, machine, tmp_path):
    plan = Settings(policy="offload").plan(profile)
    profile.write(tmp_path / "profile.json")
    plan.write(tmp_path / "plan.json")
    again = Profile.read(tmp_path / "profile.json")
    assert again == profile and again.digest == profile.digest
    assert Plan.read(tmp_path / "plan.json", again) == plan
    assert sorted(file.name for file in tmp_path.iterdir()) == ["plan.json", "profile.json"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: Profile({**p.to_dict(), "colour": 1}), "colour"),
        (lambda p: Profile("{"), "line 1"),
        (lambda p: Settings(interval=3, stride=2).plan(p), "stride"),
        (lambda p: stowage.Machine({"format": "stowage.machine", "version": 1}), "name|device"),
        (lambda p: stowage.Machine.of("m", device="24 parsec", host=1, h2d=1), "24 parsec"),
    ],
)
def test_bad_input_is_named(profile, make, message):
    with pytest.raises(stowage.InputError, match=message):
        make(profile)


def test_a_plan_is_for_its_profile(profile):
    other = profile.to_dict()
    other["blocks"][0]["count"] = 5
    with pytest.raises(stowage.InputError, match="another"):
        Plan(Settings().plan(profile).to_json(), Profile(other))


def test_programs_issue_copies_before_they_are_needed(profile):
    steps = Settings(policy="offload").plan(profile).program()
    restores = [step for step in steps if step["kind"] == "restore_saved"]
    assert len(restores) == 8  # two tensors of four blocks
    for position, step in enumerate(steps):
        for awaited in step["waits"]:
            if step["lane"] == "compute" and steps[awaited]["lane"] != "compute":
                assert steps[awaited]["issue"][0] <= position


def test_tables_for_notebooks(profile, machine):
    pandas = pytest.importorskip("pandas")
    tuning = stowage.tune(profile, machine, vram=180)
    frontier, timeline = tuning.frontier.to_pandas(), stowage.simulate(profile, machine, tuning.best).timeline
    assert list(frontier.peak_bytes) == sorted(frontier.peak_bytes)
    assert isinstance(timeline.to_pandas(), pandas.DataFrame) and len(profile.to_pandas()) == 4
    for thing in (profile, timeline, tuning, tuning.frontier, stowage.simulate(profile, machine, Settings())):
        assert "<table>" in thing._repr_html_()
    assert json.loads(timeline.to_chrome())["traceEvents"]


def test_the_command_line_is_the_same_program(profile, machine, tmp_path):
    profile.write(tmp_path / "profile.json")
    machine.write(tmp_path / "machine.json")
    command = [sys.executable, "-m", "stowage", "simulate", "profile.json", "--machine", "machine.json", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["peak_bytes"] == 217
    command[4] = "missing.json"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "missing.json" in done.stderr
