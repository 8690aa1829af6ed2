"""Answers from a fork, and what ends it."""

import os
import signal
import time
from collections.abc import Callable, Generator

import pytest

from engine.inference import fork as module
from engine.inference.fork import Fork, ForkFailed, NoFork

SECONDS = 1.0
AMPLE_SECONDS = 120.0  # for what must be answered, however busy the machine is


def answer(request: bytes) -> bytes:
    if request == b"sleep":
        time.sleep(60)
    if request == b"die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if request == b"stop":
        os.kill(os.getpid(), signal.SIGSTOP)
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
    fork = Fork(answer, seconds=AMPLE_SECONDS, memory_mib=64)
    yield fork
    fork.stop()


def process_of(answer: bytes) -> int:
    return int(answer.split()[0])


def test_one_fork_answers_many_requests(fork: Fork) -> None:
    answers = [fork.ask(b"%d" % number) for number in range(3)]
    assert [answer.split()[1] for answer in answers] == [b"0", b"1", b"2"]
    (process,) = set(map(process_of, answers))
    assert process != os.getpid()


@pytest.mark.parametrize(
    ("request_", "seconds", "number", "words"),
    [
        (b"sleep", SECONDS, signal.SIGALRM, "took longer than 1 s"),
        (b"die", AMPLE_SECONDS, signal.SIGSEGV, "ended unexpectedly"),
    ],
)
def test_another_fork_takes_over(
    fork: Fork, request_: bytes, seconds: float, number: signal.Signals, words: str
) -> None:
    fork.seconds = seconds
    fork.running = fork.start()
    first = fork.running.process
    with pytest.raises(ForkFailed, match=words):
        fork.ask(request_)
    assert first.exitcode == -number
    fork.seconds = AMPLE_SECONDS
    assert process_of(fork.ask(b"second")) != first.pid


def test_a_fork_without_its_alarm_is_not_waited_for(fork: Fork, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as short:
        short.setattr(module, "MARGIN_SECONDS", 0.1)
        short.setattr(fork, "seconds", SECONDS)
        with pytest.raises(ForkFailed, match="took longer than 1 s"):
            fork.ask(b"stop")
    assert fork.ask(b"second").endswith(b"second")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_fork_that_was_killed_or_stopped_between_two_requests_is_replaced(fork: Fork, number: signal.Signals) -> None:
    first = process_of(fork.ask(b"first"))
    os.kill(first, number)
    large = b"x" * (8 << 20)
    assert process_of(fork.ask(large)) != first


@pytest.mark.parametrize("happens", [signal.pause, lambda: os.kill(os.getpid(), signal.SIGKILL)])
def test_forks_that_never_begin(fork: Fork, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    def serve(*_: object) -> None:
        happens()

    with monkeypatch.context() as broken:
        broken.setattr(module, "BEGIN_SECONDS_MAX", 0.2)
        broken.setattr(fork, "serve", serve)
        with pytest.raises(NoFork):
            fork.ask(b"first")
    assert fork.ask(b"second").endswith(b"second")


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
