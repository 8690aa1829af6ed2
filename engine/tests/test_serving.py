"""vLLM as engine.serve starts it. A batch that mixes adapters must answer every row as if it were alone."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from examples import LOOM_TINY, Json, choice, group, lora, rl_config, trajectory, user
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from worker import engine_environment

from engine import policy
from engine.data import Dataset, add_group
from engine.model import BaseModel, adapter, create_adapter
from engine.packing import to_row

pytestmark = pytest.mark.slow
PORT, OTHER_PORT = 18_473, 18_474
START_S = 180
PROMPTS = [f"What is {x} + {y}?" for x in range(2, 50, 4) for y in (3, 31)]


def request(method: str, path: str, body: Json | None = None, port: int = PORT) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    return reply.status, reply.read()


def start(port: int) -> "subprocess.Popen[bytes]":
    arguments = ["--model", str(LOOM_TINY), "--served-model-name", "heddle/loom-tiny", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.serve", *arguments, "--max-loras", "3"],
        env=engine_environment(),
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "vLLM has ended"
        try:
            if request("GET", "/health", port=port)[0] == 200:
                return process
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("vLLM did not become healthy")


def alive(group_id: int) -> list[str]:
    """Processes of a group that still run; zombies do not."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [row[2] for row in rows if int(row[0]) == group_id and not row[1].startswith("Z")]


@pytest.fixture(scope="module")
def server() -> Generator[None]:
    process = start(PORT)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def adapters(server: None, base: BaseModel, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The zero adapter, and two that change the answers."""
    folders: dict[str, Path] = {}
    for seed, name in enumerate(("zero", "a", "b")):
        folders[name] = tmp_path_factory.mktemp("adapters") / name
        create_adapter(base, lora(seed), folders[name])
        if name != "zero":
            weights = load_file(folders[name] / "adapter_model.safetensors")
            generator = torch.Generator().manual_seed(seed)
            for key, tensor in weights.items():
                if "lora_B" in key:
                    tensor.copy_(0.05 * torch.randn(tensor.shape, generator=generator))
            save_file(weights, folders[name] / "adapter_model.safetensors")
        body = {"lora_name": name, "lora_path": str(folders[name])}
        assert request("POST", "/v1/load_lora_adapter", body)[0] == 200
    return folders


def answer(model: str, prompt: str) -> tuple[list[int], list[float]]:
    """Greedy token ids and their logprobs."""
    options = {"temperature": 0, "max_tokens": 12, "logprobs": True, "return_tokens_as_token_ids": True}
    status, reply = request("POST", "/v1/chat/completions", {"model": model, "messages": [user(prompt)], **options})
    assert status == 200, reply
    items = json.loads(reply)["choices"][0]["logprobs"]["content"]
    return [int(item["token"].removeprefix("token_id:")) for item in items], [item["logprob"] for item in items]


def answers(work: list[tuple[str, str]], at_once: int) -> list[tuple[list[int], list[float]]]:
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(answer, *zip(*work, strict=True)))


def test_a_mixed_batch_answers_like_each_alone(adapters: dict[str, Path]) -> None:
    work = [(model, prompt) for prompt in PROMPTS for model in adapters]
    alone: dict[tuple[str, str], tuple[list[int], list[float]]] = {}
    for model in ("heddle/loom-tiny", *adapters):
        same = [(model, prompt) for prompt in PROMPTS]
        alone |= dict(zip(same, answers(same, 16), strict=True))
    for prompt in PROMPTS:
        ids, logprobs = alone["zero", prompt]
        assert ids == alone["heddle/loom-tiny", prompt][0]
        assert logprobs == pytest.approx(alone["heddle/loom-tiny", prompt][1], abs=1e-4)
    different = {model: [alone[model, prompt][0] for prompt in PROMPTS] for model in adapters}
    assert different["zero"] != different["a"] != different["b"] != different["zero"]
    for _ in range(3):
        for one, (ids, logprobs) in zip(work, answers(work, len(work)), strict=True):
            assert ids == alone[one][0], one
            assert logprobs == pytest.approx(alone[one][1], abs=1e-4), one


@pytest.mark.parametrize("name", ["zero", "a", "b"])
def test_the_trainer_computes_the_logprobs_of_the_server(
    adapters: dict[str, Path], base: BaseModel, tokenizer: Any, name: str
) -> None:
    elements: list[list[Json]] = []
    for prompt in PROMPTS:
        ids, logprobs = answer(name, prompt)
        turn = choice(ids)
        for item, logprob in zip(turn["logprobs"]["content"], logprobs, strict=True):
            item["logprob"] = logprob
        elements.append([user(prompt), turn])
    attempts = [trajectory(turns, float(i % 2)) for i, turns in enumerate(elements)]
    dataset = Dataset()
    add_group(dataset, json.dumps(group(attempts)).encode(), tokenizer, rl_config(), 2048)
    row = to_row(dataset.sequences_by_group[0], torch.device("cpu"), share_prefixes=True)
    with adapter(base, adapters[name]) as model, torch.no_grad():
        logprobs_N = policy.logprobs(model, row)
    assert (logprobs_N - row.rollout_logprobs_N).abs().max().item() < 1e-4


def test_many_long_prompts_with_a_seed(adapters: dict[str, Path]) -> None:
    """More prompt tokens than fit one batch, each request with its own generator: the same seed, the same answer."""

    def sampled(number: int) -> str:
        messages = [user(f"Repeat: {number % 8} " + "apple " * 400)]
        body = {"model": "zero", "messages": messages, "max_tokens": 8, "seed": number % 8, "temperature": 1}
        status, reply = request("POST", "/v1/chat/completions", body)
        assert status == 200, reply
        return json.loads(reply)["choices"][0]["message"]["content"]

    with ThreadPoolExecutor(32) as pool:
        texts = list(pool.map(sampled, range(32)))
    assert texts[:8] == texts[8:16] == texts[16:24] == texts[24:]


def test_tools_and_several_answers(adapters: dict[str, Path]) -> None:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "The weather in a city.", "parameters": parameters}
    body = {
        "model": "zero",
        "messages": [user("What is the weather in Paris?")],
        "tools": [{"type": "function", "function": function}],
        "temperature": 0,
    }
    status, reply = request("POST", "/v1/chat/completions", body)
    assert status == 200
    (call,) = json.loads(reply)["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Paris"}
    body = {"model": "zero", "messages": [user("Hello")], "n": 4, "stop": [str(i) for i in range(64)]}
    status, reply = request("POST", "/v1/chat/completions", body)
    assert status == 200
    assert len(json.loads(reply)["choices"]) == 4


@pytest.mark.parametrize("how", ["end of stdin", "SIGTERM", "SIGKILL of the launcher alone"])
def test_nothing_is_left_behind(how: str) -> None:
    process = start(OTHER_PORT)
    try:
        assert len(alive(process.pid)) >= 3
        assert process.stdin is not None
        if how == "end of stdin":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM if how == "SIGTERM" else signal.SIGKILL)
        code = process.wait(timeout=15)
        deadline = time.monotonic() + 10
        while alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert alive(process.pid) == []
        assert code == (-signal.SIGKILL if how.startswith("SIGKILL") else 0)
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
