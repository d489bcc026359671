"""Which host buffers of a step are pinned, from the order of the requests alone.

A step asks for all of its host buffers, in the order of its forward pass, before the first of them returns. So a pool
that is empty at first never uses a buffer again, and an evicted bucket frees nothing.
"""

from fractions import Fraction


def rounded(size, rounding):
    if rounding == "slab":
        return -(-size // 256) * 256
    return 1 << (size - 1).bit_length() if rounding == "pow2" and size > 0 else size


def pinned_of(requests, fixed, host, settings):
    """For each requested size, whether it is pinned. `fixed`: what is pinned before, rounded."""
    cap, own_limit = settings.get("max_buckets"), settings.get("pinned_max_bytes")
    limit, rounding = host["pinned_limit_bytes"], host["pinned_rounding"]
    history = {}  # size -> [number of accesses, how many were granted, the last access]
    resident, used, total, answers = set(), set(), fixed, []
    for number, request in enumerate(requests):
        if request == 0:
            answers.append(True)
            continue
        size = rounded(request, rounding)
        record = history.setdefault(size, [0, 0, 0])
        record[0] += 1
        record[2] = number

        def score(each):
            accesses, granted, last = history[each]
            return accesses, Fraction(granted, accesses), last

        granted = cap != 0 and (own_limit is None or total + size <= own_limit)
        if granted and size not in resident:
            if cap is not None and len(resident) >= cap:
                lowest = min(resident, key=score)
                granted = score(lowest) < score(size)
                resident -= {lowest} if granted else set()
            resident |= {size} if granted else set()
        if granted and total + size > limit:
            granted = False
            if size not in used:
                resident.discard(size)
        if granted:
            total += size
            used.add(size)
            record[1] += 1
        answers.append(granted)
    return answers


def pinning_time(size, host):
    """Of a buffer of this rounded size."""
    rate = host.get("pin_bytes_per_second")
    return host.get("pin_ns", 0) + (-(-size * 10**9 // rate) if rate else 0)
