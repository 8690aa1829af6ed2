"""The program that a Ray job runs, over real sockets."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src"
KEY = "the key"
HANGS_S = 120  # ends what would never end
ECHO = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)\nprint('over', file=sys.stderr)"


class Server:
    """The other side of the connection."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=HANGS_S)

    def send(self, kind: bytes, body: bytes = b"") -> None:
        self.socket.sendall(struct.pack(">cI", kind, len(body)) + body)

    def receive(self) -> tuple[bytes, bytes]:
        """The next frame that is no sign of life; empty at the end."""
        while True:
            header = self._exactly(5)
            if not header:
                return b"", b""
            kind, length = struct.unpack(">cI", header)
            body = self._exactly(length)
            if kind != b"b":
                return kind, body

    def line(self) -> tuple[bytes, bytes]:
        """The next line of one stream, which may come in parts."""
        kind, line = self.receive()
        while not line.endswith(b"\n"):
            other, part = self.receive()
            assert other == kind
            line += part
        return kind, line

    def start(self, workspace: Path, *args: str, marker: str = "mine") -> None:
        start = {"args": args, "env": {"ADDED": "yes"}, "workspace": str(workspace), "marker": marker}
        self.send(b"s", json.dumps(start).encode())

    def _exactly(self, length: int) -> bytes:
        parts = b""
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            if not part:
                return b""
            parts += part
        return parts


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / ".heddle-workspace").write_text("mine")
    return tmp_path


@contextmanager
def job() -> Generator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """A job that listens, and where."""
    env = os.environ | {"PYTHONPATH": str(SOURCES), "HEDDLE_CONNECTION_KEY": KEY, "RAY_ADDRESS": "127.0.0.1:6379"}
    env |= {"RAY_JOB_CONFIG_JSON_ENV_VAR": json.dumps({"key": KEY})}
    process = subprocess.Popen([sys.executable, "-m", "engine.remote"], env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.fullmatch(r"heddle-engine listens on (\S+) (\d+)\n", process.stdout.readline())
        assert found is not None
        yield process, (found[1], int(found[2]))
    finally:
        process.kill()
        process.wait()


@contextmanager
def connected() -> Generator[tuple[subprocess.Popen[str], Server]]:
    with job() as (process, address):
        server = Server(address)
        server.send(b"k", KEY.encode())
        kind, body = server.receive()
        assert kind == b"h"
        assert json.loads(body)["package"] == str(SOURCES.parent)
        yield process, server


def test_streams_go_over_the_connection_and_the_end_is_told(workspace: Path) -> None:
    with connected() as (process, server):
        server.start(workspace, "-c", ECHO)
        server.send(b"i", b"hel")
        server.send(b"i", b"lo\n")
        assert server.line() == (b"o", b"HELLO\n")
        server.send(b"q")
        assert json.loads(server.receive()[1]) == {"how": "killed by SIGKILL"}
        server.socket.close()
        assert process.wait(HANGS_S) == 0


def test_a_polite_end_closes_stdin(workspace: Path) -> None:
    ignoring = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\n"
    with connected() as (_process, server):
        server.start(workspace, "-c", ignoring + ECHO)
        assert server.line() == (b"o", b"up\n")
        server.send(b"t")
        assert server.line() == (b"e", b"over\n")
        assert json.loads(server.receive()[1]) == {"how": "exit code 0"}


def test_the_program_has_the_environment_of_the_node_and_no_key(workspace: Path) -> None:
    shows = "import os, json; print(json.dumps([os.getcwd(), dict(os.environ)]))"
    with connected() as (_process, server):
        server.start(workspace, "-c", shows)
        kind, body = server.line()
        assert kind == b"o"
        folder, env = json.loads(body)
        assert folder == str(workspace)
        assert env["ADDED"] == "yes"
        assert env["PYTHONPATH"] == str(SOURCES)
        assert KEY not in body.decode()


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_the_program_ends_with_its_connection(workspace: Path, how: str) -> None:
    with connected() as (process, server):
        server.start(workspace, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)")
        pid = int(server.line()[1])
        if how == "closed":
            server.socket.close()
        else:
            process.kill()
        until = time.monotonic() + HANGS_S
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}").exists() or "zombie" in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.parametrize("first", [(b"k", b"another key"), (b"s", KEY.encode()), (b"k", b"\xff\xff"), None])
def test_who_lacks_the_key_is_turned_away_and_the_server_is_still_taken(first: tuple[bytes, bytes] | None) -> None:
    with job() as (_process, address):
        stranger = Server(address)
        if first is None:
            stranger.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        else:
            stranger.send(*first)
        server = Server(address)
        server.send(b"k", KEY.encode())
        assert server.receive()[0] == b"h"
        with suppress(ConnectionResetError):
            assert stranger.receive() == (b"", b"")


@pytest.mark.parametrize(("marker", "reason"), [("theirs", "of another server"), (None, "No such file")])
def test_a_folder_that_is_not_the_workspace_is_refused(tmp_path: Path, marker: str | None, reason: str) -> None:
    if marker is not None:
        (tmp_path / ".heddle-workspace").write_text(marker)
    with connected() as (_process, server):
        server.start(tmp_path, "-c", "")
        kind, body = server.receive()
        assert kind == b"x"
        assert reason in json.loads(body)["how"]


def test_it_is_started_by_a_server_alone() -> None:
    env = {name: value for name, value in os.environ.items() if name != "HEDDLE_CONNECTION_KEY"}
    command = [sys.executable, "-m", "engine.remote"]
    result = subprocess.run(
        command, env=env | {"PYTHONPATH": str(SOURCES)}, capture_output=True, text=True, timeout=HANGS_S
    )
    assert result.returncode == 1
    assert "HEDDLE_CONNECTION_KEY is not set" in result.stderr
