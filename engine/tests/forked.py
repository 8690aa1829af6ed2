"""Workers that are forks of one process, which has imported what every worker imports: a start takes a tenth of a
second instead of four. The worker that most tests share is started as the server starts it."""

import itertools
import multiprocessing
import os
import pydoc
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import torch
from examples import LOOM_TINY
from worker import Worker

from engine.main import main

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["engine.trainer.answers", "engine.trainer.followers", "engine.trainer.model"])


class ForkedProcess:
    """What tests use of `subprocess.Popen`."""

    def __init__(self, *how: Any) -> None:
        (stdin, to), (out, stdout), (err, stderr) = (CONTEXT.Pipe(duplex=False) for _ in range(3))
        self.stdin: IO[str] = opened(to, "w")
        self.stdout: IO[str] = opened(out, "r")
        self.stderr: IO[str] = opened(err, "r")
        pipes = (stdin, stdout, stderr)
        self._process = CONTEXT.Process(target=run, args=(pipes, *how))
        self._process.start()
        for pipe in pipes:
            pipe.close()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self.kill()
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()


def opened(pipe: "Connection[Any, Any]", mode: str) -> IO[str]:
    with pipe:
        return os.fdopen(os.dup(pipe.fileno()), mode)


def run(
    pipes: "tuple[Connection[Any, Any], ...]",
    arguments: list[str],
    threads: int,
    killed_at: tuple[str, int] | None,
    prepare: Callable[[], None] | None,
) -> None:
    """In the fork: the program, with arguments and pipes of its own."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe.fileno(), number)
        pipe.close()
    # What multiprocessing has put in its place is empty.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.argv[1:] = arguments
    torch.set_num_threads(threads)
    if killed_at is not None:
        kill_at(*killed_at)
    if prepare is not None:
        prepare()
    main()


def kill_at(path: str, number: int) -> None:
    owner_path, name = path.rsplit(".", 1)
    owner: Any = pydoc.locate(owner_path)
    real, calls = getattr(owner, name), itertools.count(1)

    def counted(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)

    setattr(owner, name, counted)


@contextmanager
def forked_worker(
    base_model: Path = LOOM_TINY,
    processes: int = 1,
    *,
    threads: int = 1,
    flags: Sequence[str] = (),
    killed_at: tuple[str, int] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Generator[Worker]:
    """`killed_at`: a function, and the number of its call in which the worker kills itself; `prepare`: what it
    calls first. Of several processes, both are for the first alone."""
    arguments = [f"--base-model={base_model}", f"--processes={processes}", *flags]
    process = ForkedProcess(arguments, threads, killed_at, prepare)
    try:
        yield Worker(process)
    finally:
        process.close()
