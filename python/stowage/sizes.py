"""Sizes and times as people write and read them."""

from __future__ import annotations

from . import _core

Size = int | str  # bytes, or text such as "24GiB" or "24GB"


def bytes_of(size: Size) -> int:
    """Bytes of `size`. Raises InputError for text that is no size."""
    return _core.parse_size(size) if isinstance(size, str) else int(size)


def readable_bytes(count: int) -> str:
    return _core.readable_bytes(int(count))


def readable_nanos(nanos: int) -> str:
    return _core.readable_nanos(int(nanos))
