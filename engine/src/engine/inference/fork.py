"""A fork of this process, for work that may take too much time or memory."""

import gc
import logging
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

FIRST_FILE = 3  # after the standard streams
BEGIN_SECONDS_MAX = 5.0  # a fork takes 40 ms; one of a process with threads may inherit a lock that is never released
MARGIN_SECONDS = 1.0  # the alarm comes first


class ForkFailed(Exception):
    """No answer; the message says why."""


class NoFork(Exception):
    """No fork can be started, for reasons outside the request."""


class Running(NamedTuple):
    process: BaseProcess
    connection: Connection
    memory: int
    """Bytes of address space in the beginning."""


class Fork:
    """Answers one request after the other. Starts with the first one, and again after a request that exceeded its
    limits."""

    def __init__(self, answer: Callable[[bytes], bytes], *, seconds: float, memory_mib: int) -> None:
        """
        :param seconds: for an answer
        :param memory_mib: beyond what this process has; an answer that needs more gets a MemoryError
        """
        self.answer = answer
        self.seconds = seconds
        self.memory = memory_mib << 20
        self.running: Running | None = None

    def ask(self, request: bytes) -> bytes:
        """For one thread at a time.

        :raises ForkFailed: the answer took too long, or ended the fork
        :raises NoFork: nothing has seen the request
        """
        process, connection, memory = self.begin()
        try:
            connection.send_bytes(request)
            if not connection.poll(self.seconds + MARGIN_SECONDS):
                raise TimeoutError
            answer = connection.recv_bytes()
        except (EOFError, OSError) as error:
            self.stop()
            late = isinstance(error, TimeoutError) or process.exitcode == -signal.SIGALRM
            raise ForkFailed(f"took longer than {self.seconds:g} s" if late else "ended unexpectedly") from None
        # Memory kept from one request must not reduce the limit of the next.
        if address_space(process.pid) > memory + self.memory // 2:
            self.stop()
        return answer

    def begin(self) -> Running:
        """A fork with an alarm set; the previous one may have been killed since the last request."""
        for _ in range(2):
            try:
                self.running = self.running or self.start()
                self.running.connection.send_bytes(b"")
                if self.running.connection.poll(BEGIN_SECONDS_MAX):
                    self.running.connection.recv_bytes()
                    return self.running
            except (EOFError, OSError):
                pass
            self.stop()
        raise NoFork

    def start(self) -> Running:
        ours, theirs = multiprocessing.Pipe()
        memory = address_space(os.getpid())
        process = multiprocessing.get_context("fork").Process(target=self.serve, args=(theirs, memory), daemon=True)
        process.start()
        theirs.close()
        return Running(process, ours, memory)

    def stop(self) -> None:
        if self.running is None:
            return
        self.running.process.kill()
        self.running.process.join()
        self.running.connection.close()
        self.running = None

    def serve(self, connection: Connection, memory: int) -> None:
        """In the fork, until the other end is closed."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        limit = memory + self.memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # The parent's connections would stay open as long as this process lives.
        os.closerange(FIRST_FILE, connection.fileno())
        os.closerange(connection.fileno() + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        # A collection would touch every object of the parent, and so copy its memory.
        gc.freeze()
        logging.disable()
        while True:
            try:
                connection.recv_bytes()
            except EOFError:
                return
            # SIGALRM has no handler, so the kernel ends this process at the deadline.
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            connection.send_bytes(b"")
            connection.send_bytes(self.answer(connection.recv_bytes()))
            signal.setitimer(signal.ITIMER_REAL, 0)


def address_space(process: int | None) -> int:
    """Bytes; Linux."""
    pages = Path(f"/proc/{process}/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()
