"""The worker as the server sees it: a process that is written requests and read messages."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from examples import LOOM_TINY, TARGETS, Json, rl_config

ENGINE = Path(__file__).parents[1]


def engine_environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ENGINE / "src")}


class Process(Protocol):
    """What is used of a `subprocess.Popen[str]`."""

    @property
    def pid(self) -> int: ...
    @property
    def stdin(self) -> IO[str] | None: ...
    @property
    def stdout(self) -> IO[str] | None: ...
    @property
    def stderr(self) -> IO[str] | None: ...
    def wait(self, timeout: float | None = None) -> int | None: ...
    def kill(self) -> None: ...


class Worker:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self._in, self._out = process, process.stdin, process.stdout

    def write(self, line: str) -> None:
        self._in.write(line + "\n")
        self._in.flush()

    def read(self) -> Json:
        line = self._out.readline()
        assert line, "the worker has ended"
        return json.loads(line)

    def close_stdin(self) -> None:
        self._in.close()

    def create_adapter(self, directory: Path, seed: int = 3407, targets: list[str] = TARGETS) -> Json:
        spec = {"rank": 8, "alpha": 16, "target_modules": targets, "seed": seed}
        request = {"kind": "create_adapter", "request_id": "r1", "output_dir": str(directory), "lora": spec}
        self.write(json.dumps(request))
        return self.read()

    def start_job(
        self,
        job_id: str,
        source: Path,
        output: Path,
        groups: Path,
        *,
        policy_step: int = 0,
        reference: Path | None = None,
        **config: Any,
    ) -> None:
        request = {
            **self._any_job("rl_job", job_id, source, output),
            "model": "team/p/m",
            "policy_step": policy_step,
            "reference_dir": str(reference) if reference else None,
            "trajectory_groups_path": str(groups),
            "config": rl_config(**config).model_dump(),
        }
        self.write(json.dumps(request))

    def start_sft(self, job_id: str, source: Path, output: Path, data: Path, **config: Any) -> None:
        request = {
            **self._any_job("sft_job", job_id, source, output),
            "data_path": str(data),
            "config": {"batch_size": 2, "learning_rate": 1e-3, "assistant_turns": "all"} | config,
        }
        self.write(json.dumps(request))

    def _any_job(self, kind: str, job_id: str, source: Path, output: Path) -> Json:
        return {
            "kind": kind,
            "job_id": job_id,
            "checkpoint_dir": str(source),
            "output_dir": str(output),
            "work_dir": str(work_dir(output)),
        }

    def read_job(self) -> list[Json]:
        """The messages of a job up to its last."""
        messages = [self.read()]
        while messages[-1]["kind"] not in ("checkpoint_saved", "job_failed", "job_cancelled"):
            messages.append(self.read())
        return messages

    def run_job(self, job_id: str, source: Path, output: Path, groups: Path, **options: Any) -> list[Json]:
        self.start_job(job_id, source, output, groups, **options)
        return self.read_job()

    def run_sft(self, job_id: str, source: Path, output: Path, data: Path, **config: Any) -> list[Json]:
        self.start_sft(job_id, source, output, data, **config)
        return self.read_job()

    def start_merge(self, checkpoint: Path, directory: Path) -> None:
        request = {"kind": "merge_adapter", "request_id": "r2"}
        self.write(json.dumps({**request, "checkpoint_dir": str(checkpoint), "output_dir": str(directory)}))

    def merge(self, checkpoint: Path, directory: Path) -> Json:
        self.start_merge(checkpoint, directory)
        while (message := self.read())["kind"] == "request_progress":
            assert message["request_id"] == "r2"
        return message

    def ask(self, kind: str) -> Json:
        self.write(json.dumps({"kind": kind, "request_id": "r3"}))
        return self.read()


def work_dir(output: Path) -> Path:
    """Every job of the tests has its own beside its output."""
    return output.with_name(output.name + ".work")


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def steps(messages: list[Json]) -> list[dict[str, float]]:
    return [message["metrics"] for message in messages if message["kind"] == "gradient_step"]


def read_steps(worker: Worker, count: int) -> None:
    while count:
        count -= worker.read()["kind"] == "gradient_step"


@contextmanager
def started_worker(processes: int = 1, flags: Sequence[str] = (), **environment: str) -> Generator[Worker]:
    """As the server starts it."""
    arguments = [f"--base-model={LOOM_TINY}", f"--processes={processes}", *flags]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.main", *arguments],
        env=engine_environment() | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Worker(process)
        finally:
            process.kill()
