"""The other ranks of a trainer of several processes (ranks.py), seen from rank 0: workers like it, which get the
requests that it begins, and whose messages come here instead of to the server.

If one ends, or fails alone, all end: the server says why and starts them again.
"""

import json
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import NoReturn

from pydantic import BaseModel

from engine.problem import one_line
from engine.trainer.ranks import ALONE, Ranks, join, open_store

FAILED = {"request_failed", "job_failed"}
LAST = FAILED | {"adapter_merged", "asleep", "awake", "checkpoint_saved", "job_cancelled"}
# Ranks do the same, so what ends a request on one ends it on all at about the same time. A rank that still works after
# this long waits for one that does not.
APART_S_MAX = 30.0


def start_ranks(rank: int, size: int, port: int | None) -> "tuple[Ranks, Followers]":
    """Of `size` processes, rank 0 starts the others with its own arguments; they find it at a port."""
    if size == 1:
        return ALONE, Followers()
    store = open_store(port)
    followers = Followers(size, store.port) if rank == 0 else Followers()
    return join(rank, size, store), followers


class Followers:
    def __init__(self, size: int = 1, port: int | None = None) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._working = set[int]()
        self._begun = 0  # requests that rank 0 began and those that it ended
        self._ended = 0
        self._processes = [self._start(rank, port) for rank in range(1, size)]

    def _start(self, rank: int, port: int | None) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "engine.main", *sys.argv[1:], f"--rank={rank}", f"--port={port}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._watch, args=(rank, process), daemon=True).start()
        return process

    @contextmanager
    def at(self, request: BaseModel) -> Generator[None]:
        """They work on it too, and have ended with it."""
        with self._changed:
            self._begun += 1
            self._working = set(range(1, self._size))
        for process in self._processes:
            assert process.stdin is not None
            # That one of them has ended is noticed below.
            with suppress(BrokenPipeError):
                process.stdin.write(request.model_dump_json() + "\n")
                process.stdin.flush()
        try:
            yield
        except BaseException as error:
            self._wait(error)
            raise
        self._wait()

    def _wait(self, error: BaseException | None = None) -> None:
        with self._changed:
            self._ended += 1
            if self._changed.wait_for(lambda: not self._working, APART_S_MAX):
                return
        if error is not None:
            traceback.print_exception(error)
            self._end(f"process 0 failed alone: {type(error).__name__}: {one_line(error)}")
        self._end(f"process {min(self._working)} did not end a request that process 0 has ended")

    def _watch(self, rank: int, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if message["kind"] not in LAST:
                continue
            with self._changed:
                self._working.discard(rank)
                self._changed.notify_all()
                if message["kind"] in FAILED:
                    why = f"process {rank} failed alone: {message['error_message']}"
                    timer = threading.Timer(APART_S_MAX, self._end_if_at, (self._begun, why))
                    timer.daemon = True
                    timer.start()
        self._end(f"process {rank} ended ({describe_exit(process.wait())})")

    def _end_if_at(self, request: int, why: str) -> None:
        if self._ended < request:
            self._end(why)

    def _end(self, why: str) -> NoReturn:
        print(f"The trainer of {self._size} processes ends: {why}", file=sys.stderr, flush=True)
        os._exit(1)


def describe_exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
