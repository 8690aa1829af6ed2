"""What autograd keeps for the backward pass."""

import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def bytes_kept() -> Generator[Callable[[], int]]:
    """The most bytes at once of different tensors that were saved for a backward pass to come, weights included."""
    alive: dict[int, int] = {}
    most = 0

    class Kept:
        """Lives as long as autograd keeps it."""

        def __init__(self, tensor: Tensor) -> None:
            self.tensor = tensor

    users: dict[int, int] = {}

    def release(storage: int) -> None:
        users[storage] -= 1
        if not users[storage]:
            del users[storage], alive[storage]

    def pack(tensor: Tensor) -> Kept:
        nonlocal most
        storage = tensor.untyped_storage()
        key = storage.data_ptr()
        users[key] = users.get(key, 0) + 1
        alive[key] = storage.nbytes()
        most = max(most, sum(alive.values()))
        kept = Kept(tensor)
        weakref.finalize(kept, release, key)
        return kept

    def unpack(kept: Kept) -> Tensor:
        return kept.tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        yield lambda: most
