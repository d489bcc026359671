#!/usr/bin/env python3
"""The execution model, written from the design's text alone: the second reference.

    reference.py < CASE           one JSON object {"profile", "machine", "settings"}; prints its answer
    reference.py --check < CASES  such an object with its "answer" on each line; prints those that differ
    reference.py --table          the worked example; prints its rows and whether they are right

`reference.cpp` moves a clock. Here nothing moves: the step is a set of equations between events (a step begins, a
copy ends), solved by repetition until nothing changes; then each thing in memory is an interval from one event
to another, and the peak is found by looking at every instant at which something is born.

Settings are named as on the command line: policy, interval, stride, segmenting, scope, swap_blocks, swap_which,
swap_mode, prefetch, h2d_streams, d2h_streams, max_buckets, pinned_max_bytes, disk_over_bytes. Missing ones have their defaults.
"""
import json
import sys

from reference_pool import pinned_of, pinning_time, rounded

START = ("start",)
FOREVER = ("forever",)


def begin(step):
    return ("begin", step)


def end(step):
    return ("end", step)


def tensors_of(block):
    """[bytes, scope] of each saved storage, in the order of its first tensor."""
    found, named = [], {}
    for tensor in block.get("saved", []):
        storage = tensor.get("storage")
        if storage in named:
            named[storage][0] = max(named[storage][0], tensor["bytes"])
            continue
        entry = [tensor["bytes"], tensor.get("scope", "other")]
        found.append(entry)
        if storage is not None:
            named[storage] = entry
    return found


def segments_of(groups, settings):
    """(first, last) of each segment; `groups` is the list of (first, past the last) of each group."""
    width = settings.get("interval", 1)
    stride = settings.get("stride")
    if width < 1 or (stride is not None and stride < width):
        raise ValueError("stride below interval")
    segments = []
    for start, stop in groups:
        if settings.get("segmenting", "contiguous") == "contiguous":
            for first in range(start, stop, stride or width):
                segments.append((first, min(first + width, stop) - 1))
        elif stride is None:
            segments += [(i, i) for i in range(start, stop, width)]
        else:
            segments += [(i, i) for i in range(start, stop) if (i - start) % stride < width]
    return segments


def groups_of(blocks, cross):
    if cross:
        return [(0, len(blocks))]
    cuts = [i for i in range(1, len(blocks)) if blocks[i].get("group") != blocks[i - 1].get("group")]
    return list(zip([0] + cuts, cuts + [len(blocks)]))


def swapped_of(n, settings):
    c = min(settings.get("swap_blocks", 0), n - 1)
    return {"last": set(range(n - c, n)), "first": set(range(c)),
            "spread": {i * n // c for i in range(c)}}[settings.get("swap_which", "last")]


def transfer_time(link, size):
    """Rounded up; on the straight line between the two points of the curve that the size lies between."""
    points = [(p["bytes"], -(-p["bytes"] * 10**9 // p["bytes_per_second"])) for p in link.get("curve", [])]
    if points and size <= points[0][0]:
        return -(-size * 10**9 // link["curve"][0]["bytes_per_second"])
    for (below, before), (above, after) in zip(points, points[1:]):
        if below < size <= above:
            return before + -(-(after - before) * (size - below) // (above - below))
    last, reached = points[-1] if points else (0, 0)
    return reached + -(-(size - last) * 10**9 // link["bytes_per_second"])


def later(instant, by):
    """What takes no time happens where it led to; what takes time leads to an instant of its own."""
    return (instant[0] + by, instant[1] if by == 0 else -1)


class Step:
    """All equations of one training step."""

    def __init__(self, profile, machine, settings):
        self.fixed = profile.get("fixed", {})
        self.blocks = [b for b in profile["blocks"] for _ in range(b.get("count", 1))]
        self.n = len(self.blocks)
        disk = machine.get("disk", {})
        self.links = machine["links"] | {"disk_" + way: disk[way] for way in ("read", "write") if way in disk}
        self.streams = {lane: settings.get(lane + "_streams", 1) for lane in ("h2d", "d2h")}
        self.streams |= {"disk_read": 2, "disk_write": 2}  # a deep queue
        self.prefetch = settings.get("prefetch", 1)
        self.policy = settings.get("policy", "keep")
        self.two_way = settings.get("swap_mode", "h2d") == "two-way"
        self.swapped = swapped_of(self.n, settings)
        groups = groups_of(self.blocks, profile.get("segments_cross_groups", False))
        chosen = segments_of(groups, settings)
        self.segments = chosen if self.policy in ("recompute", "recompute+offload") else []
        self.scope = settings.get("scope") if self.segments else None
        if self.scope:  # each block by itself
            self.segments = [(i, i) for first, last in self.segments for i in range(first, last + 1)]
        self.segment_at = {i: s for s in self.segments for i in range(s[0], s[1] + 1)}
        self.sent = {}  # block -> what it sends to the host: indices into its tensors, "input" or "part"
        if self.policy == "recompute+offload":
            self.sent = {i: ["input" if self.part_input(i) is None else "part"] for i, _ in self.segments
                         if self.part_input(i) != 0}
        if self.policy == "offload":
            for i in (i for first, last in chosen for i in range(first, last + 1)):
                scope = settings.get("scope")
                picked = [k for k, t in enumerate(tensors_of(self.blocks[i])) if scope in (None, t[1])]
                if picked:
                    self.sent[i] = picked
        self.leaving = self.leaves(settings.get("disk_over_bytes"))
        self.order_compute()
        self.order_copies()
        self.pin(machine.get("host", {"pinned_limit_bytes": float("inf"), "pinned_rounding": "exact"}), settings)

    def leaves(self, stays):
        """(block, what) of all that goes on to the disk: what was sent before the last `stays` bytes."""
        if stays is None:
            return set()
        sent = [(i, what) for i in sorted(self.sent) for what in self.sent[i]]
        sizes = [self.size(i, what) for i, what in sent]
        return {each for k, each in enumerate(sent) if sum(sizes[k:]) > stays}

    # --- what happens, in which order -------------------------------------------------------------------

    def order_compute(self):
        self.lengths = {}
        self.lengths["prologue"] = self.fixed.get("prologue_ns", 0)
        for i, block in enumerate(self.blocks):
            self.lengths["F", i] = block["forward_ns"]
        self.lengths["E"] = self.fixed.get("epilogue_ns", 0)
        i = self.n - 1
        while i >= 0:
            first, last = self.segment_at.get(i, (i, i))
            if i in self.segment_at:
                for j in range(first, last + 1):
                    self.lengths["R", j] = (self.blocks[j]["scope_forward_ns"][self.scope] if self.scope
                                            else self.blocks[j]["forward_ns"])
            for j in range(last, first - 1, -1):
                self.lengths["B", j] = self.blocks[j]["backward_ns"]
            i = first - 1
        self.lengths["O"] = self.fixed.get("optimizer_ns", 0)
        self.steps = list(self.lengths)
        self.place = {step: p for p, step in enumerate(self.steps)}

    def uses(self):
        """(block, first step, last step) of each use of swapped weights, in the order of need."""
        single = []
        for i in self.swapped:
            single.append((i, ("F", i), ("F", i)))
            single.append((i, ("R" if i in self.segment_at else "B", i), ("B", i)))
        single.sort(key=lambda use: self.place[use[1]])
        merged = []
        for use in single:
            if merged and merged[-1][0] == use[0]:
                merged[-1] = (use[0], merged[-1][1], use[2])
            else:
                merged.append(use)
        return merged

    def restores(self):
        """(block, step that needs it), in the order of need."""
        needs = [(i, ("R" if i in self.segment_at else "B", i)) for i in self.sent]
        return sorted(needs, key=lambda need: self.place[need[1]])

    def issue(self, needing, k, first_issue, times=1):
        """The event that issues number k of a sequence whose members are needed by the steps `needing`."""
        if self.prefetch == 0:
            return end(self.steps[self.place[needing[k]] - 1])
        ahead = times * self.prefetch
        return first_issue if k < ahead else begin(needing[k - ahead])

    def order_copies(self):
        """Fills `lanes`: copies as (name, bytes, events it waits for), in the order of their lane."""
        self.arrivals = {step: [] for step in self.steps}
        self.use_list, self.restore_list = self.uses(), self.restores()
        self.issued_at = {}
        queued = {"h2d": [], "d2h": [], "disk_read": [], "disk_write": []}

        def enqueue(lane, event, rank, name, size, after=()):
            step = event[1] if len(event) > 1 else None
            # With no prefetch an issue belongs to the step that is next.
            moment = -1 if step is None else 2 * self.place[step] + (event[0] == "end")
            queued[lane].append(((moment,) + rank, name, size, (event,) + tuple(after)))

        needing = [use[1] for use in self.use_list]
        store_of = {}
        for k, (i, first, last) in enumerate(self.use_list):
            weight = self.blocks[i]["weight_bytes"]
            self.issued_at["load", k] = self.issue(needing, k, START)
            after = [end(("store", store_of[i]))] if i in store_of else []
            enqueue("h2d", self.issued_at["load", k], (0, k, 0), ("load", k), weight, after)
            self.arrivals[first].append(("load", k))
            if self.two_way:
                enqueue("d2h", end(last), (0, k, 0), ("store", k), weight)
                store_of[i] = k
        needing = [step for _, step in self.restore_list]
        for k, (i, step) in enumerate(self.restore_list):
            self.issued_at["restore", k] = self.issue(needing, k, begin("E"))
            self.issued_at["read", i] = self.issue(needing, k, begin("E"), 2)
            for j, what in enumerate(self.sent[i]):
                size = self.size(i, what)
                enqueue("d2h", end(("F", i)), (1, 0, j), ("send", i, what), size)
                on_host = end(("send", i, what))
                if (i, what) in self.leaving:
                    enqueue("disk_write", end(("F", i)), (1, 0, j), ("write", i, what), size, [on_host])
                    on_host = end(("read", i, what))
                    enqueue("disk_read", self.issued_at["read", i], (1, k, j), ("read", i, what), size,
                            [end(("write", i, what))])
                enqueue("h2d", self.issued_at["restore", k], (1, k, j), ("restore", i, what), size, [on_host])
                self.arrivals[step].append(("restore", i, what))
        self.lanes = {lane: [copy[1:] for copy in sorted(copies, key=lambda copy: copy[0])]
                      for lane, copies in queued.items()}

    def size(self, i, what):
        if what == "part":
            return self.part_input(i)
        return self.blocks[i]["input_bytes"] if what == "input" else tensors_of(self.blocks[i])[what][0]

    def part_input(self, i):
        """What a recomputed scope starts from; None where that is the block's own input."""
        if self.scope is None:
            return None
        default = None if self.scope == "attention" else self.blocks[i]["input_bytes"]
        return self.blocks[i].get("scope_input_bytes", {}).get(self.scope, default)

    def again(self, i, scope):
        """Whether a tensor of this scope is made by a recomputation."""
        return i in self.segment_at and self.scope in (None, scope)

    def pin(self, host, settings):
        """Which copies are pageable, and how long pinning holds the host after a forward step."""
        self.weights_pinned = [rounded(self.blocks[i]["weight_bytes"], host["pinned_rounding"]) for i in self.swapped]
        stores = [copy for copy in self.lanes["d2h"] if copy[0][0] == "send"]
        answers = pinned_of([size for _, size, _ in stores], sum(self.weights_pinned), host, settings)
        self.pageable = set()
        self.held = {}  # step -> how long
        self.pinned_after = {}  # store -> how long after the step that sends it
        self.pinned_size = {}
        for ((_, i, what), size, _), pinned in zip(stores, answers):
            if not pinned:
                self.pageable |= {("send", i, what), ("restore", i, what)}
            elif size > 0:
                full = self.pinned_size[i, what] = rounded(size, host["pinned_rounding"])
                self.held["F", i] = self.held.get(("F", i), 0) + pinning_time(full, host)
                self.pinned_after["send", i, what] = self.held["F", i]

    def on_card(self, host):
        """What is pinned stays so, and counts where the host says so, with what it has to leave free."""
        pinned = sum(self.weights_pinned) + sum(self.pinned_size.values())
        return pinned + host["pinned_device_margin_bytes"] if pinned and host.get("pinned_counts_on_device") else 0

    # --- when ---------------------------------------------------------------------------------------------
    #
    # An instant is a pair: the time, and which compute edge before it at that very time led to it, so that what
    # happens at one time is still in order. Edge 2p is the begin of step p, 2p + 1 its end, -1 none.

    def solve(self):
        """The time of every event. Pageable copies, which run alone, take their turns among the compute steps one
        after the other: the one that is ready first cannot be moved by those that are ready later."""
        at = {START: (0, -1), FOREVER: (float("inf"), -1)}
        turns = {p: [] for p in range(-1, len(self.steps))}  # after which step
        waiting = set(self.pageable)
        while True:
            self.settle(at, turns)
            if not waiting:
                return {event: instant[0] for event, instant in at.items() if event[0] not in ("turn", "ready")}
            copy = min(waiting, key=lambda each: (at["ready", each], each[0] == "send"))
            waiting.remove(copy)
            time, edge = at["ready", copy]
            after = [p for p, step in enumerate(self.steps) if at[begin(step)][0] < time or 2 * p <= edge]
            turns[after[-1] if after else -1].append(copy)

    def settle(self, at, turns):
        """The equations, evaluated until none changes."""
        for _ in range(10 * (len(self.steps) + sum(map(len, self.lanes.values())) + 2)):
            before = dict(at)
            free = self.take_turns(at, turns[-1], (0, -1))
            for p, step in enumerate(self.steps):
                start = max([free] + [at.get(end(copy), (0, -1)) for copy in self.arrivals[step]])
                at[begin(step)] = (start[0], 2 * p)
                at[end(step)] = (start[0] + self.lengths[step], 2 * p + 1)
                free = self.take_turns(at, turns[p], later(at[end(step)], self.held.get(step, 0)))
            for lane, copies in self.lanes.items():
                self.solve_lane(at, lane, copies)
            if at == before:
                return
        raise ValueError("the step waits for itself")

    @staticmethod
    def take_turns(at, copies, free):
        for copy in copies:
            at["turn", copy] = free
            free = max(free, at.get(end(copy), (0, -1)))
        return free

    def solve_lane(self, at, lane, copies):
        if not copies:
            return
        link = self.links[lane]
        previous = None
        for name, size, after in copies:
            ready = max([at.get(event, (0, -1)) for event in after] + [previous or (0, -1)])
            if name in self.pinned_after:
                ready = max(ready, later(at.get(after[0], (0, -1)), self.pinned_after[name]))
            at["ready", name] = ready
            at[begin(name)] = max(ready, at.get(("turn", name), (0, -1)))
            late = previous is None or at[begin(name)][0] > previous[0]
            latency = link.get("latency_ns", 0) if self.streams[lane] == 1 or late else 0
            duration = transfer_time(link, size)
            if name in self.pageable:
                duration = max(duration, -(-size * 10**9 // self.links["pageable_bytes_per_second"]))
            previous = at[end(name)] = later(at[begin(name)], duration + latency)

    # --- memory -------------------------------------------------------------------------------------------

    def gradient(self, i):
        """Of X_i, as block i makes it."""
        if i == self.n:
            return self.x(i)
        return self.blocks[i].get("input_gradient_bytes", self.x(i)) if i > 0 else 0

    def handed_on_gradient(self, i):
        return self.blocks[i].get("handed_on_gradient_bytes", 0) if i > 0 else 0

    def late(self, i):
        """What of its gradients a backward makes only as it ends."""
        made = self.gradient(i) - self.handed_on_gradient(i) + self.blocks[i].get("gradient_bytes", 0)
        return min(self.blocks[i].get("backward_relief_bytes", 0), made)

    def parts(self):
        """(first, last, bytes) of what states i have in common, each from the state with which it is made."""
        stack = []
        for i in range(self.n + 1):
            kept = self.blocks[i - 1].get("handed_on_bytes", 0) if i > 0 else 0
            fresh = self.x(i) - kept
            below = 0
            cut = []
            for first, size in stack:
                stays = max(0, min(size, kept - below))
                below += size
                if stays:
                    cut.append((first, stays))
                if size > stays:
                    yield first, i - 1, size - stays
            stack = cut + [(i, fresh)]
        for first, size in stack:
            yield first, self.n, size

    def dropped(self, i):
        """The event with which the forward's X_i is held no longer."""
        if i == self.n:
            return end("E")
        if i > self.segment_at.get(i, (i, i))[0]:
            return end(("F", i))
        return end(("send", i, "input")) if "input" in self.sent.get(i, []) else end(("B", i))

    def x(self, i):
        return self.fixed.get("output_bytes", 0) if i == self.n else self.blocks[i]["input_bytes"]

    def on_device(self):
        """(from, until, bytes) of everything that is ever on the device."""
        fixed = self.fixed
        static = fixed.get("resident_bytes", 0) + fixed.get("optimizer_state_bytes", 0)
        yield START, FOREVER, static
        yield begin("E"), end("E"), fixed.get("epilogue_bytes", 0)
        for first, last, size in self.parts():
            born = begin(("F", first - 1)) if first > 0 else START
            yield born, [self.dropped(i) for i in range(first, last + 1)], size
        # Gradients of states: what is made of X_i, and how much of it has gone when block i - 1 is through.
        made = [0] + [self.gradient(i) - (self.handed_on_gradient(i) if i < self.n else 0)
                      for i in range(1, self.n + 1)]
        gone = [0] + [self.gradient(i) - self.handed_on_gradient(i - 1) for i in range(1, self.n + 1)]
        for i in range(1, self.n + 1):
            yield begin("E" if i == self.n else ("B", i)), FOREVER, made[i]
            yield end(("B", i - 1)), FOREVER, -gone[i]
        for i in range(self.n):
            yield begin(("B", i)), end(("B", i)), -self.late(i)
        for i in range(self.n):
            yield from self.of_block(i)
            yield from self.activations(i)
        for k, (i, _, last) in enumerate(self.use_list):
            gone = end(("store", k)) if self.two_way else end(last)
            yield self.issued_at["load", k], gone, self.blocks[i]["weight_bytes"]
        for k, (i, _) in enumerate(self.restore_list):
            for what in self.sent[i]:
                yield self.issued_at["restore", k], end(("B", i)), self.size(i, what)

    def of_block(self, i):
        block = self.blocks[i]
        workspace = block.get("forward_workspace_bytes", 0)
        if i not in self.swapped:
            yield START, FOREVER, block["weight_bytes"]
        if i in self.segment_at:
            dropped = block.get("dropped_workspace_bytes", workspace)
            dropped = block.get("scope_dropped_workspace_bytes", {}).get(self.scope, dropped)
            yield begin(("F", i)), end(("F", i)), dropped
            yield begin(("R", i)), end(("R", i)), block.get("scope_workspace_bytes", {}).get(self.scope, workspace)
        else:
            yield begin(("F", i)), end(("F", i)), workspace
        yield begin(("B", i)), end(("B", i)), block.get("backward_workspace_bytes", 0)
        yield begin(("B", i)), end("O"), block.get("gradient_bytes", 0)

    def activations(self, i):
        # The input, as a recomputation made it.
        first, last = self.segment_at.get(i, (i, i))
        if i > first:
            yield begin(("R", i - 1)), end(("B", i)), self.x(i) - self.blocks[i - 1].get("handed_on_bytes", 0)
        # The output once more, which no one wants at the end of a segment.
        if i in self.segment_at and i == last and self.scope not in self.blocks[i].get("scope_workspace_bytes", {}):
            again = self.x(i + 1) - self.blocks[i].get("handed_on_bytes", 0)
            yield begin(("R", i)), end(("R", i)), again
        if i in self.segment_at and self.part_input(i) is not None:
            gone = end(("send", i, "part")) if "part" in self.sent.get(i, []) else end(("B", i))
            yield begin(("F", i)), gone, self.part_input(i)
        for k, (size, scope) in enumerate(tensors_of(self.blocks[i])):
            made = begin(("R" if self.again(i, scope) else "F", i))
            yield made, end(("send", i, k)) if k in self.sent.get(i, []) else end(("B", i)), size

    def stays(self, i, what):
        """(from, until) of each buffer on the host that holds it."""
        if (i, what) in self.leaving:
            return [(end(("F", i)), end(("write", i, what))),
                    (self.issued_at["read", i], end(("restore", i, what)))]
        return [(end(("F", i)), end(("restore", i, what)))]

    def on_host(self):
        for i, whats in self.sent.items():
            for what in whats:
                for stay in self.stays(i, what):
                    yield *stay, self.size(i, what)

    def on_pinned(self):
        for size in self.weights_pinned:
            yield START, FOREVER, size
        for (i, what), size in self.pinned_size.items():
            for stay in self.stays(i, what):
                yield *stay, size

    def on_disk(self):
        for i, what in self.leaving:
            yield end(("F", i)), end(("read", i, what)), self.size(i, what)


def peak(things, at):
    """The most bytes at any instant; half-open, so what ends as another begins is not there with it."""
    last = lambda gone: max(at[event] for event in gone) if isinstance(gone, list) else at[gone]
    intervals = [(at[born], last(gone), size) for born, gone, size in things]
    return max((sum(size for born, gone, size in intervals if born <= instant < gone)
                for instant in {born for born, _, _ in intervals}), default=0)


def simulate(profile, machine, settings):
    step = Step(profile, machine, settings)
    at = step.solve()
    step_ns = max(instant for event, instant in at.items() if event != FOREVER)
    compute_ns = sum(step.lengths.values())
    return {"step_ns": step_ns, "compute_ns": compute_ns, "stall_ns": step_ns - compute_ns,
            "peak_bytes": peak(step.on_device(), at), "host_activation_peak_bytes": peak(step.on_host(), at),
            "host_pinned_peak_bytes": peak(step.on_pinned(), at), "disk_peak_bytes": peak(step.on_disk(), at),
            "pinned_on_device_bytes": step.on_card(machine.get("host", {}))}


def check(lines):
    cases = wrong = 0
    for line in lines:
        case = json.loads(line)
        expected = case.pop("answer")
        answer = simulate(**case)
        cases += 1
        if answer != expected:
            wrong += 1
            print(json.dumps({"expected": expected, "reference": answer, **case}))
    print(f"{cases} cases, {wrong} differ", file=sys.stderr)
    return cases == 0 or wrong > 0


TABLE = [
    ({"policy": "keep"}, 130, 0, 217, 0),
    ({"policy": "recompute"}, 170, 0, 157, 0),
    ({"policy": "recompute", "interval": 2}, 170, 0, 175, 0),
    ({"policy": "recompute", "interval": 1, "stride": 2}, 150, 0, 177, 0),
    ({"policy": "offload", "prefetch": 1}, 186, 56, 212, 80),
    ({"policy": "offload", "prefetch": 0}, 246, 116, 198, 80),
    ({"policy": "offload", "scope": "attention", "prefetch": 2}, 154, 24, 212, 48),
    ({"policy": "recompute+offload", "interval": 2, "prefetch": 1}, 170, 0, 175, 4),
    ({"policy": "keep", "swap_blocks": 3, "swap_which": "last", "prefetch": 1}, 130, 0, 212, 0),
    ({"policy": "recompute", "swap_blocks": 3, "swap_which": "last", "swap_mode": "two-way", "prefetch": 1},
     170, 0, 154, 0),
]


def table():
    block = {"forward_ns": 10, "backward_ns": 20, "input_bytes": 2, "weight_bytes": 5, "gradient_bytes": 1,
             "forward_workspace_bytes": 3, "backward_workspace_bytes": 4, "count": 4,
             "saved": [{"bytes": 12, "scope": "attention"}, {"bytes": 8, "scope": "ffn"}]}
    fixed = {"resident_bytes": 100, "output_bytes": 2, "epilogue_ns": 6, "optimizer_ns": 4}
    link = {"bytes_per_second": 10**9, "latency_ns": 0}
    wrong = 0
    for settings, *expected in TABLE:
        answer = simulate({"fixed": fixed, "blocks": [block]}, {"links": {"h2d": link, "d2h": link}}, settings)
        got = [answer[key] for key in ("step_ns", "stall_ns", "peak_bytes", "host_activation_peak_bytes")]
        wrong += got != expected
        print("right" if got == expected else f"WRONG, expected {expected}:", got, settings)
    return wrong > 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check(sys.stdin))
    if sys.argv[1:] == ["--table"]:
        sys.exit(table())
    print(json.dumps(simulate(**json.load(sys.stdin))))
