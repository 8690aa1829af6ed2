"""Several processes that train one model together, each on its own GPU of one machine (or, slowly, on CPUs).

Each rank runs the same job on the same data in the same order, so what a job decides it decides alike everywhere.

    the base      frozen; of each layer every rank holds a part, and the layer is whole only while it runs (FSDP2)
    the adapter   small; whole on every rank, with its optimizer, and the same there, since gradients are summed
    a row         its batches are dealt out; gradients and log-probabilities of all are summed

Rank 0 speaks with the server and alone writes files, which are those of one process: any number can go on from them.
"""

import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, distributed, nn
from torch.distributed import TCPStore  # pyright: ignore[reportPrivateImportUsage]
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from engine.trainer.errors import Problem
from engine.trainer.layers import layers_of
from engine.trainer.packing import Batch, Row

# A rank that dies ends the others, and the server ends a job that shows no progress, so nothing else may time out: the
# others wait for rank 0 while it writes a merged model.
WAIT_MAX = timedelta(days=1)

LOCALHOST = "127.0.0.1"

Made = TypeVar("Made")


@dataclass(frozen=True)
class Share:
    """One batch of a row that this rank runs."""

    batch: Batch
    part: slice  # its sampled tokens
    counts: bool  # false where another rank has it, and this one only keeps step
    num_tokens_max: int  # that any rank runs at the same time, padding included

    def of(self, loss: Tensor) -> Tensor:
        """Nothing where another rank has the batch: its backward pass keeps step all the same."""
        return loss if self.counts else loss * 0


@dataclass(frozen=True)
class Ranks:
    rank: int = 0
    size: int = 1

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def shares(self, row: Row) -> Iterable[Share]:
        """This rank's batches of a row. All ranks take as many, alike in what is gathered on the way: where batches do
        not go round, the last one runs on several ranks and counts on one."""
        dealt = zip(row.batches, row.parts, strict=True)
        for _, alike in groupby(dealt, key=lambda dealt: dealt[0].prefix is None):
            for turn in in_turns([*alike], self.size):
                batch, part = turn[min(self.rank, len(turn) - 1)]
                yield Share(batch, part, self.rank < len(turn), max(batch.num_tokens for batch, _ in turn))

    def sum(self, tensors: list[Tensor]) -> None:
        """Each tensor, in place, becomes the sum of those of all ranks."""
        if self.size == 1 or not tensors:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        distributed.all_reduce(flat)
        parts = cast(tuple[Tensor, ...], flat.split([tensor.numel() for tensor in tensors]))
        for tensor, summed in zip(tensors, parts, strict=True):
            tensor.copy_(summed.view_as(tensor))

    def least(self, value: float) -> float:
        if self.size == 1:
            return value
        least = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(least, distributed.ReduceOp.MIN)
        return least.item()

    def as_first(self, value: bool) -> bool:
        """What rank 0 says."""
        if self.size == 1:
            return value
        said = torch.tensor(value)
        distributed.broadcast(said, 0)
        return bool(said)

    def wait(self) -> None:
        """Until all ranks are here."""
        self.least(0)

    def one_by_one(self, work: Callable[[], Made]) -> Made:
        """Each rank works while the others wait: a model that is loaded is in the memory of the machine as a whole."""
        made: list[Made] = []
        for rank in range(self.size):
            if rank == self.rank:
                made.append(work())
            self.wait()
        return made[0]

    def from_first(self, make: Callable[[], Made]) -> Made:
        """What rank 0 makes, which must be picklable."""
        if self.size == 1:
            return make()
        made: list[Any] = [make() if self.is_first else None]
        distributed.broadcast_object_list(made, 0, device=torch.device("cpu"))
        return made[0]

    def shard(self, model: nn.Module, body: Any, device: torch.device) -> None:
        """Leaves this rank its part of each layer, on the device; embeddings and head stay whole, since they are also
        used outside the body. The model is not moved before, so the device never holds more than a layer of it."""
        mesh = init_device_mesh(device.type, (self.size,))
        layers = layers_of(body)
        for layer in layers:
            # Set even for what PyTorch takes for the outermost, which would stay whole otherwise.
            fully_shard(layer, mesh=mesh, reshard_after_forward=True)
        in_layers = {parameter for layer in layers for parameter in cast(nn.Module, layer).parameters()}
        outside = {parameter for parameter in model.parameters() if parameter not in in_layers}
        fully_shard(body, mesh=mesh, ignored_params=outside)


ALONE = Ranks()


def in_turns(items: list[Any], size: int) -> list[list[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def open_store(port: int | None = None) -> TCPStore:
    """Where ranks learn of each other: at a free port of this machine on rank 0, and at that port on the others."""
    if port is not None:
        return TCPStore(LOCALHOST, port, is_master=False)
    listening = socket.create_server((LOCALHOST, 0))
    # The store takes the socket over.
    own_port = int(listening.getsockname()[1])
    return TCPStore(LOCALHOST, own_port, is_master=True, wait_for_workers=False, master_listen_fd=listening.detach())


def join(rank: int, size: int, store: TCPStore) -> Ranks:
    """Meets the others, each of which calls this."""
    # All ranks are on this machine: their sockets listen on the loopback interface alone.
    for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
        os.environ.setdefault(name, "lo")
    has_gpus = torch.cuda.is_available()
    if has_gpus and torch.cuda.device_count() < size:
        raise Problem(f"{size} processes need a GPU each, and {torch.cuda.device_count()} can be seen")
    if has_gpus:
        torch.cuda.set_device(rank)
    backend = "cpu:gloo,cuda:nccl" if has_gpus else "gloo"
    distributed.init_process_group(backend, rank=rank, world_size=size, store=store, timeout=WAIT_MAX)
    return Ranks(rank, size)
