"""Adapters that vLLM copies from a bucket of a real store, see test_bucket.py."""

import asyncio
import os
from collections.abc import Generator
from pathlib import Path
from uuid import uuid4

import pytest
import serving
from examples import lora

from engine.bucket import Bucket
from engine.inference import adapters_from_bucket
from engine.inference.adapters_from_bucket import COPIES, WORKSPACE, Adapters
from engine.problem import Problem
from engine.trainer.model import BaseModel, create_adapter

pytestmark = pytest.mark.bucket

PORT = 18_475


@pytest.fixture(scope="module")
def address() -> str:
    return f"{os.environ['HEDDLE_TEST_BUCKET']}/{uuid4().hex}"


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


@pytest.fixture(scope="module", autouse=True)
def published(address: str, base: BaseModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    bucket = Bucket(address, tmp_path_factory.mktemp("trainer"))
    for digest in ("d1", "d2", "d3"):
        create_adapter(base, lora(), bucket.place(f"adapters/{digest}"))
        bucket.publish(f"adapters/{digest}")


@pytest.fixture(scope="module")
def vllm(address: str, copies: Path) -> Generator[None]:
    with serving.vllm(PORT, f"--workspace={address}", f"--workspace-copies={copies}", end="SIGTERM"):
        yield


def copied(copies: Path) -> list[str]:
    return sorted(path.name for path in copies.glob("*/adapters/*"))


def test_vllm_loads_serves_and_unloads(vllm: None, address: str, copies: Path) -> None:
    def ask(path: str, **body: str) -> tuple[int, str]:
        status, text = serving.request("POST", path, {**body}, PORT)
        return status, text.decode()

    assert ask("/v1/load_lora_adapter", lora_name="d1", lora_path=f"{address}/adapters/d1")[0] == 200
    assert copied(copies) == ["d1"]
    body = {"model": "d1", "prompt": "a", "max_tokens": 1}
    assert serving.request("POST", "/v1/completions", body, PORT)[0] == 200
    again = ask("/v1/load_lora_adapter", lora_name="d1", lora_path=f"{address}/adapters/d1")
    assert again[0] == 400
    assert "already been loaded" in again[1]
    assert ask("/v1/unload_lora_adapter", lora_name="d1")[0] == 200
    assert serving.request("POST", "/v1/completions", body, PORT)[0] == 404
    for path, message in {
        f"{address}/adapters/none": "has no folder adapters/none",
        f"{address}/jobs/1": "is not among the adapters",
        "s3://another/adapters/d1": "is not among the adapters",
    }.items():
        status, text = ask("/v1/load_lora_adapter", lora_name="other", lora_path=path)
        assert status == 500
        assert message in text
    assert copied(copies) == ["d1"]


def test_copies_are_kept_for_a_while(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKSPACE, address)
    monkeypatch.setenv(COPIES, str(tmp_path))
    monkeypatch.setattr(adapters_from_bucket, "KEPT_MAX", 1)

    async def use() -> None:
        adapters = Adapters()
        for digest in ("d1", "d2", "d3"):
            path = await adapters.copied(digest, f"{address}/adapters/{digest}")
            assert (path / "adapter_model.safetensors").exists()
        await adapters.unloaded("d1")
        assert copied(tmp_path) == ["d1", "d2", "d3"]
        await adapters.copied("d1", f"{address}/adapters/d1")
        await adapters.unloaded("d2")
        await adapters.unloaded("d3")
        assert copied(tmp_path) == ["d1", "d3"]
        monkeypatch.setattr(adapters_from_bucket, "KEPT_S", 0.0)
        await adapters.unloaded("unknown")
        assert copied(tmp_path) == ["d1"]

    asyncio.run(use())


def test_a_vllm_without_a_workspace_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WORKSPACE, raising=False)
    with pytest.raises(Problem, match=WORKSPACE):
        asyncio.run(Adapters().copied("d1", "s3://bucket/adapters/d1"))
