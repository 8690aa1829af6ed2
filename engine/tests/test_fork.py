"""Answers from a fork, and what ends it."""

import os
import signal
import time
from collections.abc import Generator

import pytest

from engine.fork import Fork, ForkFailed

SECONDS = 1.0


def answer(request: bytes) -> bytes:
    if request == b"sleep":
        time.sleep(60)
    if request == b"die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if request == b"memory":
        try:
            return bytes(200 << 20)
        except MemoryError:
            return b"no memory"
    if request == b"keep":
        kept.append(bytearray(40 << 20))
    return b"%d %s" % (os.getpid(), request)


kept: list[bytearray] = []


@pytest.fixture
def fork() -> Generator[Fork]:
    fork = Fork(answer, seconds=SECONDS, memory_mib=64)
    yield fork
    fork.stop()


def process_of(answer: bytes) -> int:
    return int(answer.split()[0])


def test_one_fork_answers_many_requests(fork: Fork) -> None:
    answers = [fork.ask(b"%d" % number) for number in range(3)]
    assert [answer.split()[1] for answer in answers] == [b"0", b"1", b"2"]
    (process,) = set(map(process_of, answers))
    assert process != os.getpid()


@pytest.mark.parametrize(("request_", "words"), [(b"sleep", "took longer than 1 s"), (b"die", "ended unexpectedly")])
def test_another_fork_takes_over(fork: Fork, request_: bytes, words: str) -> None:
    first = process_of(fork.ask(b"first"))
    started = time.monotonic()
    with pytest.raises(ForkFailed, match=words):
        fork.ask(request_)
    assert time.monotonic() - started < 2 * SECONDS
    assert process_of(fork.ask(b"second")) != first


def test_memory_is_limited(fork: Fork) -> None:
    assert fork.ask(b"memory") == b"no memory"
    assert fork.ask(b"more").endswith(b"more")


def test_what_is_kept_does_not_count_for_the_next(fork: Fork) -> None:
    assert len({process_of(fork.ask(b"keep")) for _ in range(3)}) == 3


def test_long_requests_and_answers(fork: Fork) -> None:
    assert fork.ask(b"x" * (8 << 20)).endswith(b"x" * (8 << 20))


def test_it_holds_no_files_of_the_parent(fork: Fork) -> None:
    reader, writer = os.pipe()
    fork.ask(b"start")
    os.close(writer)
    assert os.read(reader, 1) == b""
    os.close(reader)
