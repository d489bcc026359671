"""Copies between device and host, beside compute: one lane a direction, each in the order of submission."""

from __future__ import annotations

import ctypes
import queue
import threading
from typing import Protocol

import torch
from torch import Tensor


class Copy(Protocol):
    """A copy that was submitted. It holds the memory that it reads and writes."""

    def ended(self) -> bool:
        """Whether that memory may be used for something else."""

    def wait(self) -> None:
        """What is computed from now on sees the result. Raises what made the copy fail."""

    def finish(self) -> None:
        """Returns once it has ended."""


class Lane(Protocol):
    def submit(self, to: Tensor, source: Tensor, after: Copy | None = None) -> Copy:
        """Copies flat tensors of bytes, after all that compute was given so far and after another lane's copy."""

    def close(self) -> None:
        """Ends once all was carried out."""


class _HostCopy:
    def __init__(self, to: Tensor, source: Tensor, after: Copy | None):
        self._tensors: tuple[Tensor, Tensor] | None = (to, source)
        self._after = after
        self._done = threading.Event()
        self._failure: BaseException | None = None

    def carry_out(self) -> None:
        try:
            if self._after is not None:
                self._after.finish()
            to, source = self._tensors or ()
            ctypes.memmove(to.data_ptr(), source.data_ptr(), source.numel())  # without the interpreter's lock
        except BaseException as failure:  # whoever waits is told
            self._failure = failure
        self._tensors = self._after = None
        self._done.set()

    def ended(self) -> bool:
        return self._done.is_set()

    def finish(self) -> None:
        self._done.wait()
        if self._failure is not None:
            raise RuntimeError("a copy between device and host failed") from self._failure

    wait = finish


class HostLane:
    """A thread that copies within this computer's memory."""

    def __init__(self, name: str):
        self._copies: queue.SimpleQueue[_HostCopy | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"stowage-{name}", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (copy := self._copies.get()) is not None:
            copy.carry_out()
            del copy

    def submit(self, to: Tensor, source: Tensor, after: Copy | None = None) -> Copy:
        copy = _HostCopy(to, source, after)
        self._copies.put(copy)
        return copy

    def close(self) -> None:
        self._copies.put(None)
        self._thread.join()


class _StreamCopy:
    def __init__(self, event: torch.cuda.Event, tensors: tuple[Tensor, Tensor]):
        self._event = event
        self._tensors = tensors  # not given back before the copy has ended

    def ended(self) -> bool:
        return self._event.query()

    def wait(self) -> None:
        torch.cuda.current_stream().wait_event(self._event)

    def finish(self) -> None:
        self._event.synchronize()


class StreamLane:
    """A CUDA stream beside the one that computes. Events order them: no memory is marked as used by two streams."""

    def __init__(self, device: torch.device):
        self._stream = torch.cuda.Stream(device)

    def submit(self, to: Tensor, source: Tensor, after: Copy | None = None) -> Copy:
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            if after is not None:
                after.wait()
            to.copy_(source, non_blocking=True)
            event = torch.cuda.Event()
            event.record()
        return _StreamCopy(event, (to, source))

    def close(self) -> None:
        self._stream.synchronize()
