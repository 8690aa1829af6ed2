"""The worker's two pipes: requests come in on stdin, messages leave on stdout, one JSON object a line."""

import itertools
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TextIO, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from engine.beat import CountedBeat
from engine.contract import (
    CancelJob,
    CheckpointSaved,
    CreateAdapter,
    GradientStep,
    JobCancelled,
    JobFailed,
    JobProgress,
    MergeAdapter,
    RequestProgress,
    RlJob,
    SftJob,
    Sleep,
    TrainingStarted,
    Wake,
    WorkerRequest,
)

Phase = Literal["loading", "tokenizing", "training", "saving"]
Request = CreateAdapter | MergeAdapter | Sleep | Wake | RlJob | SftJob
Work = TypeVar("Work")
PROGRESS_INTERVAL_S = 0.1  # a heartbeat, not a log: ten a second are enough for any watchdog


class Outbox:
    def __init__(self) -> None:
        """Reserve stdout for messages: other output to file descriptor 1 goes to stderr from here on."""
        self._pipe: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, message: BaseModel) -> None:
        self._pipe.write(message.model_dump_json() + "\n")
        self._pipe.flush()


class Inbox:
    """Reads requests on a thread, so that a cancel and the end of the server are noticed in the middle of a job."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[tuple[Request, threading.Event]] = queue.SimpleQueue()
        self._open_jobs: dict[str, threading.Event] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> tuple[Request, threading.Event]:
        """A request, and an event that is set once it is to stop."""
        return self._requests.get()

    def close_job(self, job_id: str, cancelled: threading.Event) -> None:
        # The same job may have been sent again as soon as it was answered.
        if self._open_jobs.get(job_id) is cancelled:
            del self._open_jobs[job_id]

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            try:
                request = WorkerRequest.model_validate_json(line).root
            except ValidationError as error:
                print(f"ignored a line that is no request: {error}", file=sys.stderr, flush=True)
                continue
            if isinstance(request, CancelJob):
                if request.job_id in self._open_jobs:
                    self._open_jobs[request.job_id].set()
                continue
            cancelled = threading.Event()
            if isinstance(request, RlJob | SftJob):
                self._open_jobs[request.job_id] = cancelled
            self._requests.put((request, cancelled))
        # The server is gone and its work is not needed: exit at once, whatever the main thread is computing.
        os._exit(0)


def heartbeat(request_id: str, outbox: Outbox) -> CountedBeat:
    """For a request that takes long: sends how far it is, at most ten times a second."""
    sent_s = 0.0

    def beat(done: int, total: int) -> None:
        nonlocal sent_s
        if time.monotonic() - sent_s >= PROGRESS_INTERVAL_S:
            sent_s = time.monotonic()
            outbox.send(RequestProgress(kind="request_progress", request_id=request_id, done=done, total=total))

    return beat


class Cancelled(Exception):
    pass


class Report:
    """The messages of one job, numbered from 1. A cancel takes effect at the next report of progress."""

    def __init__(self, job_id: str, outbox: Outbox, is_cancelled: Callable[[], bool]) -> None:
        self._job_id = job_id
        self._outbox = outbox
        self._is_cancelled = is_cancelled
        self._sequence = itertools.count(1)
        self._progress_sent_s = 0.0

    def progress(self, phase: Phase, done: int, total: int) -> None:
        self._stop_if_cancelled()
        self.alive(phase, done, total)

    def alive(self, phase: Phase, done: int, total: int) -> None:
        """Progress that does not ask whether the job is cancelled, which all ranks ask together."""
        if time.monotonic() - self._progress_sent_s >= PROGRESS_INTERVAL_S:
            self._progress_sent_s = time.monotonic()
            self._send(JobProgress, phase=phase, done=done, total=total)

    def each(self, phase: Phase, work: Iterable[Work], total: int) -> Iterator[Work]:
        """Go through `work`, with a heartbeat after every piece."""
        for done, piece in enumerate(work, 1):
            yield piece
            self.progress(phase, done, total)

    def started(self, num_sequences: int) -> None:
        self._send(TrainingStarted, num_sequences=num_sequences)

    def gradient_step(self, metrics: dict[str, float]) -> None:
        self._stop_if_cancelled()
        self._send(GradientStep, metrics=metrics)

    def saved(self, directory: str, metrics: dict[str, float]) -> None:
        self._send(CheckpointSaved, directory=directory, metrics=metrics)

    def failed(self, error_message: str) -> None:
        self._send(JobFailed, error_message=error_message)

    def cancelled(self) -> None:
        self._send(JobCancelled)

    def _stop_if_cancelled(self) -> None:
        if self._is_cancelled():
            raise Cancelled

    def _send(self, message: type[BaseModel], **fields: object) -> None:
        (kind,) = get_args(message.model_fields["kind"].annotation)
        values = {"kind": kind, "job_id": self._job_id, "sequence": next(self._sequence), **fields}
        self._outbox.send(message.model_validate(values))
