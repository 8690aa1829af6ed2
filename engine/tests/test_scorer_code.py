"""The program that runs the code of scorers: what confined code reaches, and that nothing of it stays."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / "src/scorer_code"

# A file that every program of this machine can read, and one that is a secret.
OUTSIDE = Path(__file__)


def reply_to(body: str, *flags: str) -> dict[str, Any]:
    """The answer to code whose lines are separated by semicolons."""
    [answer] = replies_to([body], *flags)
    return answer


def replies_to(bodies: list[str], *flags: str) -> list[dict[str, Any]]:
    return answers_to("\n".join(map(request, bodies)), *flags)


def answers_to(lines: str, *flags: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-I", str(PROGRAM), *flags],
        input=f"{lines}\n",
        env={},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(body: str) -> str:
    lines = "".join(f"    {line.strip()}\n" for line in body.split(";"))
    source = f"def score(output):\n{lines}"
    return json.dumps(
        {"source": source, "name": "score", "self": None, "column_map": None, "output": "abc", "inputs": {}}
    )


IS_CONFINED = "result" in reply_to("return 1")
needs_boundary = pytest.mark.skipif(not IS_CONFINED, reason="this machine does not confine code")


def test_where_the_machine_does_not_confine_code_it_is_refused_unless_forced() -> None:
    assert reply_to("return len(output)", "--unconfined") == {"result": 3}
    if IS_CONFINED:
        assert reply_to("return len(output)") == {"result": 3}
    else:
        assert "HEDDLE_SCORER_CODE=run-unconfined" in reply_to("return len(output)")["error"]


def test_a_column_with_the_name_of_an_argument_comes_before_the_one_of_the_column_map() -> None:
    source = "def score(output, target, other):\n    return [target, other]\n"
    asked: dict[str, Any] = {
        "source": source,
        "name": "score",
        "self": None,
        "column_map": {"target": "missing", "other": "wanted"},
        "output": "abc",
        "inputs": {"target": 1, "wanted": 2},
    }
    assert answers_to(json.dumps(asked), "--unconfined") == [{"result": [1, 2]}]


@needs_boundary
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (f"return open({str(OUTSIDE)!r}).read()", "FileNotFoundError"),
        ("return open('/etc/passwd').read()", "FileNotFoundError"),
        ("import os; return os.listdir('/proc')", "FileNotFoundError"),
        ("open('/tmp/x', 'w')", "FileNotFoundError|Read-only"),
        ("import json, os; os.remove(json.__file__)", "Read-only|Permission"),
        ("import json; open(json.__file__, 'a')", "Read-only|Permission"),
        ("import socket; socket.create_connection(('127.0.0.1', 22), 1)", "unreachable"),
        ("import socket; socket.create_connection(('1.1.1.1', 443), 1)", "unreachable"),
        ("import socket; socket.socket(40, socket.SOCK_STREAM)", "not permitted"),
        ("import os; os.fork()", "not permitted"),
        ("import subprocess; subprocess.run(['/usr/bin/env'])", "not permitted"),
        ("import os; os.execv('/usr/bin/env', ['env'])", "not permitted"),
        ("import multiprocessing; multiprocessing.Process(target=print).start()", "not permitted"),
        ("import os; os.setuid(0); os.chroot('/')", "not permitted"),
        ("import os; os.memfd_create('x')", "not permitted"),
        ("return len('x' * 3 * 1024**3)", "MemoryError"),
    ],
)
def test_confined_code_reaches_nothing(body: str, error: str) -> None:
    said = reply_to(body)
    assert any(part in said.get("error", "") for part in error.split("|")), said


@needs_boundary
def test_confined_code_calls_no_kernel_function_that_is_refused() -> None:
    mount = "l.mount(b'x', b'/usr', b'tmpfs', 0, None)"
    said = reply_to(
        f"import ctypes; l = ctypes.CDLL(None); return [{mount}, l.unshare(0x10000000), l.ptrace(16, 1, 0, 0)]"
    )
    assert said == {"result": [-1, -1, -1]}


@needs_boundary
def test_confined_code_computes_as_ever() -> None:
    threads = (
        "import threading; r = []; t = threading.Thread(target=lambda: r.append(1)); t.start(); t.join(); return r"
    )
    arrays = "import numpy as np; return float(np.ones((99, 99)).dot(np.ones((99, 99))).sum())"
    waiting = "import asyncio; return asyncio.run(asyncio.sleep(0.01, 3))"
    models = "import pydantic; return pydantic.TypeAdapter(list[int]).validate_python(['1'])"
    assert [reply.get("result") for reply in replies_to([threads, arrays, waiting, models])] == [[1], 99.0**3, 3, [1]]


@needs_boundary
def test_what_kills_itself_or_others_leaves_the_program_working() -> None:
    ends = "import os; os.kill(os.getppid() or 1, 9); os.kill(1, 9); os.kill(os.getpid(), 9)"
    said = replies_to([ends, "return 2"])
    assert "error" in said[0] and said[1] == {"result": 2}


@needs_boundary
def test_nothing_stays_when_the_server_kills_the_program() -> None:
    mark = f"--marked-{time.monotonic_ns()}"
    running = subprocess.Popen(
        [sys.executable, "-I", str(PROGRAM), mark], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
    )
    assert running.stdin is not None and running.stdout is not None
    running.stdin.write(f"{request('return 1')}\n{request('import time; time.sleep(50)')}\n".encode())
    running.stdin.flush()
    assert running.stdout.readline() == b'{"result": 1}\n'
    running.send_signal(signal.SIGKILL)
    running.wait()
    while marked(mark):
        time.sleep(0.05)


def marked(mark: str) -> list[Path]:
    """The processes of this machine with this argument."""
    return [file for file in Path("/proc").glob("[0-9]*/cmdline") if mark in text_of(file)]


def text_of(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # the process has ended
        return ""


@pytest.mark.parametrize("written", ['{"result": 1}\n{"result": 2}\n', '{"error": 3}', "[]"])
def test_code_that_writes_to_its_pipe_answers_no_other_request(written: str) -> None:
    forge = f"""for pipe in range(3, 16):
 try: os.write(pipe, {written.encode()!r})
 except OSError: pass
os._exit(0)"""
    forged, honest = replies_to([f"import os; exec({forge!r})", "return 4"], "--unconfined")
    assert "where its answer goes" in forged["error"]
    assert honest == {"result": 4}
