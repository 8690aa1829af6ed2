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


def request(method: str, path: str, body: Json | None = None, port: int = PORT) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    return reply.status, reply.read()


def chat(**body: Any) -> tuple[int, Json]:
    status, reply = request("POST", "/v1/chat/completions", {"model": MODEL, **body})
    return status, json.loads(reply)


def start(port: int, *flags: str) -> "subprocess.Popen[bytes]":
    arguments = ["--model", str(LOOM_TINY), "--served-model-name", MODEL, "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.serve", *arguments, "--max-loras", "3", *flags],
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
