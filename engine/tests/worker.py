"""The worker as the server sees it: a process that is written requests and read messages."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from examples import LOOM_TINY, TARGETS, Json, rl_config

ENGINE = Path(__file__).parents[1]


def engine_environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ENGINE / "src")}


class Worker:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
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

    def create_adapter(self, directory: Path, seed: int = 3407) -> Json:
        spec = {"rank": 8, "alpha": 16, "target_modules": TARGETS, "seed": seed}
        request = {"kind": "create_adapter", "request_id": "r1", "output_dir": str(directory), "lora": spec}
        self.write(json.dumps(request))
        return self.read()

    def start_job(self, job_id: str, source: Path, output: Path, groups: Path, **config: Any) -> None:
        request = {
            "kind": "rl_job",
            "job_id": job_id,
            "checkpoint_dir": str(source),
            "output_dir": str(output),
            "work_dir": str(output.with_name(output.name + ".work")),
            "policy_step": 0,
            "reference_dir": None,
            "trajectory_groups_path": str(groups),
            "config": rl_config(**config).model_dump(),
        }
        self.write(json.dumps(request))

    def read_job(self) -> list[Json]:
        """The messages of a job up to its last."""
        messages = [self.read()]
        while messages[-1]["kind"] not in ("checkpoint_saved", "job_failed", "job_cancelled"):
            messages.append(self.read())
        return messages

    def run_job(self, job_id: str, source: Path, output: Path, groups: Path, **config: Any) -> list[Json]:
        self.start_job(job_id, source, output, groups, **config)
        return self.read_job()


@contextmanager
def started_worker() -> Generator[Worker]:
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.main", "--base-model", str(LOOM_TINY)],
        env=engine_environment(),
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
