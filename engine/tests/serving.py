"""vLLM as engine.serve starts it, and requests to it."""

import http.client
import json
import subprocess
import sys
import time
from typing import Any

from examples import LOOM_TINY, Json
from worker import engine_environment

MODEL = "heddle/loom-tiny"
PORT, OTHER_PORT = 18_473, 18_474
START_S = 180


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
