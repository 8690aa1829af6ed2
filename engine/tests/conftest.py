import os
import threading

# The tests need no network: everything they load lies in this repository.
os.environ["HF_HUB_OFFLINE"] = "1"
# A second thread makes models this small no faster, and waits for a core that other tests have. What several threads
# may change, tests ask a worker of several (`forked_worker`).
os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest
import serving
from examples import LOOM_TINY
from transformers import AutoTokenizer
from worker import Worker, started_worker

from engine.trainer.model import BaseModel, load_base


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return cast(Any, AutoTokenizer.from_pretrained(LOOM_TINY))


@pytest.fixture(scope="session")
def base() -> BaseModel:
    return load_base(str(LOOM_TINY), "heddle/loom-tiny")


@pytest.fixture(scope="session")
def worker() -> Generator[Worker]:
    with started_worker() as worker:
        assert worker.read() == {
            "kind": "worker_ready",
            "base_model": "heddle/loom-tiny",
            "device": "cpu",
            "dtype": "float32",
        }
        # What it writes there is not looked at here, and a full pipe would stop it.
        assert worker.process.stderr is not None
        threading.Thread(target=worker.process.stderr.read, daemon=True).start()
        yield worker


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    model = serving.with_token_beyond(tmp_path_factory.mktemp("model") / "loom-tiny")
    with serving.vllm(serving.PORT, "--model", str(model), end="SIGKILL of all but the core"):
        yield


@pytest.fixture
def step_0(worker: Worker, tmp_path: Path) -> Path:
    directory = tmp_path / "step-0"
    message = worker.create_adapter(directory)
    assert message == {"kind": "adapter_created", "request_id": "r1", "directory": str(directory)}
    return directory
