"""Stowage's tuner beside other planners of checkpointing, all priced by Stowage's simulator.

    python3 -m venv V && V/bin/pip install torch scipy
    V/bin/python benchmarks/peers.py [build/stowage]

Peers: the memory-budget knapsacks of torch.compile (greedy, dynamic programme, integer programme), which choose what to
recompute so that the rest stays below a number of bytes; and an exact integer programme of our own, solved by HiGHS,
that knows every step's memory, for plans that keep or recompute each block by itself. The knapsacks are told the
largest number of bytes with which the simulator says that their plan fits. No peer offloads: so each chain runs on a
machine with a link too slow to be of use, and on a usual one.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy
from scipy.optimize import Bounds, LinearConstraint, milp
from torch._functorch._activation_checkpointing import knapsack

BLOCKS = (6, 12, 24, 57)
MIB = 1 << 20
STOWAGE = sys.argv[1] if len(sys.argv) > 1 else "build/stowage"


def random_chain(blocks, seed):
    dice = random.Random(seed)
    rows = []
    for i in range(blocks):
        scale = dice.choice([1, 1, 2, 3])
        rows.append({
            "name": f"block.{i}", "group": "blocks", "forward_ns": dice.randint(2, 9) * 1_000_000 * scale,
            "backward_ns": dice.randint(5, 18) * 1_000_000 * scale, "input_bytes": 24 * MIB, "weight_bytes": 60 * MIB,
            "gradient_bytes": MIB, "forward_workspace_bytes": dice.randint(5, 40) * MIB,
            "backward_workspace_bytes": dice.randint(10, 80) * MIB,
            "saved": [{"name": "saved", "bytes": dice.randint(60, 300) * MIB * scale, "scope": "other"}]})
    return {"format": "stowage.profile", "version": 1, "name": f"random {blocks}, seed {seed}",
            "fixed": {"resident_bytes": 300 * MIB, "output_bytes": 24 * MIB, "epilogue_bytes": 32 * MIB,
                      "prologue_ns": 100_000, "epilogue_ns": 800_000, "optimizer_ns": 2_000_000}, "blocks": rows}


def machine(rate, budget):
    link = {"bytes_per_second": rate, "latency_ns": 10_000}
    host = {"memory_bytes": 1 << 40, "pinned_limit_bytes": 1 << 40, "pinned_rounding": "exact"}
    return {"format": "stowage.machine", "version": 1, "name": "card", "device": {"memory_bytes": budget}, "host": host,
            "links": {"h2d": link, "d2h": link, "pageable_bytes_per_second": rate, "duplex": 1.0,
                      "compute_slowdown": 0.0}, "arena": "ideal"}


class Bench:
    """One chain on one machine, and the program to ask."""

    def __init__(self, folder, profile, rate, budget):
        self.folder, self.profile, self.budget = folder, profile, budget
        self.write("profile.json", profile)
        self.write("machine.json", machine(rate, budget))

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "w") as file:
            json.dump(content, file)

    def ask(self, *arguments):
        done = subprocess.run([os.path.abspath(STOWAGE), *arguments, "--json"], cwd=self.folder, capture_output=True,
                              text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)

    def tune(self):
        answer = self.ask("tune", "profile.json", "--machine", "machine.json", "--threads", "1", "-o", "plan.json")
        if answer["outcome"] == "ran":
            with open(os.path.join(self.folder, "plan.json")) as file:
                self.subject = json.load(file)["subject"]
        return answer

    def price(self, recomputed):
        """Step in nanoseconds of the plan that recomputes these blocks, each by itself, or None: it does not fit."""
        rows = []
        for i in range(len(self.profile["blocks"])):
            again = i in recomputed
            rows.append({"activation": "recompute" if again else "keep", "segment": i if again else None, "offload": [],
                         "weights": "resident"})
        numbers = {block: n for n, block in enumerate(sorted(recomputed))}
        for i in recomputed:
            rows[i]["segment"] = numbers[i]
        transfer = {"prefetch": 1, "h2d_streams": 1, "d2h_streams": 1, "max_buckets": None, "pinned_max_bytes": None}
        self.write("peer.json", {"format": "stowage.plan", "version": 1, "subject": self.subject, "settings": None,
                                 "transfer": transfer, "step": {"accumulate": 1, "optimizer": "device"}, "blocks": rows})
        answer = self.ask("simulate", "profile.json", "--machine", "machine.json", "--plan", "peer.json")
        return answer["step_ns"] if answer["outcome"] == "ran" else None


def saved(block):
    return block["saved"][0]["bytes"]


def knapsacked(bench, solve):
    """The best plan of a knapsack within the budget, and the time of its last solution."""
    blocks = bench.profile["blocks"]
    memory = [float(saved(block)) for block in blocks]
    runtime = [float(block["forward_ns"]) for block in blocks]
    low, high, best, took = 0.0, 1.0, None, 0.0
    if hasattr(solve, "__name__") and solve.__name__ == "dp_knapsack":  # it makes bytes of whole hundredths
        total = sum(memory)
        memory = [m / total for m in memory]
    for _ in range(12):
        share = (low + high) / 2
        began = time.process_time()
        _, _, recomputed = solve(memory, runtime, share * sum(memory))
        took = time.process_time() - began
        step = bench.price(set(recomputed))
        low, high = (share, high) if step else (low, share)
        if step and (best is None or step < best):
            best = step
    return best, took


def exact(bench):
    """Every step's memory in one row: docs/architecture.md names the execution model that it repeats."""
    profile, blocks = bench.profile, bench.profile["blocks"]
    n, fixed = len(blocks), profile["fixed"]
    x = [b["input_bytes"] for b in blocks] + [fixed["output_bytes"]]
    base = fixed["resident_bytes"] + sum(b["weight_bytes"] for b in blocks)
    gradients = [sum(b["gradient_bytes"] for b in blocks[i:]) for i in range(n + 1)]
    rows, limits = [], []

    def at_most(fixed_bytes, kept, again=None):
        # sum over kept of (1 - r) S, and what counts only where block `again` is recomputed
        row = numpy.zeros(n)
        for j in kept:
            row[j] -= saved(blocks[j])
        limit = bench.budget - fixed_bytes - sum(saved(blocks[j]) for j in kept)
        if again is not None:
            row[again] += 1 << 50
            limit += 1 << 50
        rows.append(row / MIB)
        limits.append(limit / MIB)

    for i, block in enumerate(blocks):
        before = base + sum(x[:i + 1])
        at_most(before + x[i + 1] + block["forward_workspace_bytes"], range(i + 1))
        at_most(before + saved(block) + 2 * x[i + 1] + block["forward_workspace_bytes"] + gradients[i + 1], range(i), i)
        at_most(before + saved(block) + x[i + 1] + (x[i] if i else 0) + block["backward_workspace_bytes"] + gradients[i],
                range(i))
    at_most(base + sum(x[:n]) + 2 * x[n] + fixed["epilogue_bytes"], range(n))
    cost = numpy.array([b["forward_ns"] / 1e6 for b in blocks])
    began = time.process_time()
    solved = milp(cost, constraints=LinearConstraint(numpy.array(rows), ub=numpy.array(limits)),
                  integrality=numpy.ones(n), bounds=Bounds(0, 1), options={"mip_rel_gap": 0})
    took = time.process_time() - began
    if not solved.success:
        return None, took
    step = bench.price({i for i in range(n) if solved.x[i] > 0.5})
    if step is None:
        raise RuntimeError("the simulator refuses a plan that the integer programme says fits")
    return step, took


def main():
    peers = [("greedy", lambda b: knapsacked(b, knapsack.greedy_knapsack)),
             ("dynamic", lambda b: knapsacked(b, knapsack.dp_knapsack)),
             ("integer", lambda b: knapsacked(b, knapsack.ilp_knapsack)), ("exact", exact)]
    print("step, ms; beside it how much longer than Stowage's; seconds of the processor for one solution\n")
    print(f"{'blocks':>6} {'link':>6} {'budget':>7} {'Stowage':>14} {'gap':>6}" +
          "".join(f"{name:>26}" for name, _ in peers))
    worse = wins = 0
    with tempfile.TemporaryDirectory() as folder:
        for blocks in BLOCKS:
            for seed in (1, 2):
                profile = random_chain(blocks, seed)
                for name, rate in (("none", 1_000_000), ("PCIe", 26_000_000_000)):
                    everything = Bench(folder, profile, rate, 1 << 45).tune()
                    for share in (0.35, 0.5, 0.75):
                        weights = sum(b["weight_bytes"] for b in profile["blocks"]) + 300 * MIB
                        budget = int(weights + share * (everything["null_peak_bytes"] - weights))
                        bench = Bench(folder, profile, rate, budget)
                        tuned = bench.tune()
                        if tuned["outcome"] != "ran":
                            continue
                        ours = tuned["step_ns"]
                        line = f"{blocks:6} {name:>6} {budget / (1 << 30):7.2f} {ours / 1e6:8.1f} {tuned['elapsed_ns'] / 1e9:4.2f}s {100 * tuned['gap']:5.1f}%"
                        for _, solve in peers:
                            step, took = solve(bench)
                            worse += step is not None and step < ours
                            wins += step is not None and step > ours
                            line += f"{step / 1e6:10.1f} {100 * (step / ours - 1):+6.1f}% {took:6.3f}s" if step else f"{'does not fit':>26}"
                        print(line, flush=True)
    print(f"\na peer's plan was faster {worse} times, slower {wins} times")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
