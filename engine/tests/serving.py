"""vLLM as engine.serve starts it, requests to it, and its end."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

import torch
from examples import LOOM_TINY, Json
from torch import Tensor
from transformers import AutoTokenizer
from worker import engine_environment

MODEL = "heddle/loom-tiny"
# Of the tokenizer of `with_token_beyond`.
TOKEN_BEYOND = "<|beyond|>"
PORT, OTHER_PORT = 18_473, 18_474
# On a machine that is busy with other tests.
START_S = 600
END_S = 180

End = Literal["end of stdin", "SIGTERM", "SIGKILL of the launcher alone", "SIGKILL of all but the core"]


def request(
    method: str,
    path: str,
    body: Json | None = None,
    port: int = PORT,
    key: str = "",
    timeout: float = 120,
    probe: bool = False,
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    headers |= {"x-heddle-probe": "1"} if probe else {}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    reply = connection.getresponse()
    return reply.status, reply.read()


def chat(**body: Any) -> tuple[int, Json]:
    status, reply = request("POST", "/v1/chat/completions", {"model": MODEL, **body})
    return status, json.loads(reply)


def logprobs_of_prompt(model: str, ids: list[int], port: int, key: str = "") -> Tensor:
    """Of each token but the first, in nats."""
    body = {"model": model, "prompt": ids, "max_tokens": 1, "prompt_logprobs": 0}
    status, reply = request("POST", "/v1/completions", body, port, key)
    assert status == 200, reply
    found: list[dict[str, Any]] = json.loads(reply)["choices"][0]["prompt_logprobs"][1:]
    return torch.tensor([at[str(token)]["logprob"] for at, token in zip(found, ids[1:], strict=True)])


def with_token_beyond(directory: Path) -> Path:
    """The committed model with one more token, of which it has no embedding."""
    shutil.copytree(LOOM_TINY, directory)
    tokenizer = cast(Any, AutoTokenizer.from_pretrained(directory))
    tokenizer.add_tokens([TOKEN_BEYOND])
    tokenizer.save_pretrained(directory)
    return directory


@contextmanager
def vllm(port: int, *more: str, end: End, **environment: str) -> Generator[None]:
    """Ends as said, which is a test of its own: nothing is left behind. One more start takes longer than others."""
    process = start(port, *more, **environment)
    try:
        yield
        assert_leaves_nothing(process, port, end, environment.get("VLLM_API_KEY", ""))
    finally:
        if alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def start(port: int, *more: str, **environment: str) -> "subprocess.Popen[bytes]":
    arguments = ["--model", str(LOOM_TINY), "--served-model-name", MODEL, "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.serve", *arguments, "--max-loras", "3", *more],
        env=engine_environment() | environment,
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


def alive(group_id: int) -> dict[int, str]:
    """Command lines of the processes of a group that still run; zombies do not."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid=,stat=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    return {int(row[0]): row[3] for row in rows if int(row[1]) == group_id and not row[2].startswith("Z")}


def assert_leaves_nothing(process: "subprocess.Popen[bytes]", port: int, end: End, key: str) -> None:
    # For templates of requests there is another process.
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "chat_template": "{{ messages }}"}
    assert request("POST", "/v1/chat/completions", body, port, key)[0] == 200
    assert len(alive(process.pid)) >= 4
    assert process.stdin is not None
    if end == "end of stdin":
        process.stdin.close()
    elif end == "SIGKILL of all but the core":
        others = [pid for pid, words in alive(process.pid).items() if "VLLM::EngineCore" not in words]
        assert len(others) == len(alive(process.pid)) - 1
        for pid in others:
            os.kill(pid, signal.SIGKILL)
    else:
        process.send_signal(signal.SIGTERM if end == "SIGTERM" else signal.SIGKILL)
    code = process.wait(timeout=END_S)
    deadline = time.monotonic() + END_S
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive(process.pid) == {}
    assert code == (-signal.SIGKILL if end.startswith("SIGKILL") else 0)
