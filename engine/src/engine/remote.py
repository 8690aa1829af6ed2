"""Runs a program of the engine for a server on another machine: what a Ray job of the server starts on its node.

python -m engine.remote

It listens at a free port of the node, says where in its output, and accepts one connection, which presents the key of
this job. Over it the server sends what to run, then both send the bytes of the program's standard streams, and signs
of life. The end of the connection ends the program, so none is left behind by a server that is gone.

A frame is one byte for its kind, four for the length of what follows (big-endian), and that. The other side is
src/stores/compute/ray/connection.ts.
"""

import hmac
import json
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn, NotRequired, TypedDict
from urllib.parse import urlsplit

from engine.parent import end_with_parent

CONNECT_S_MAX = 120.0  # a server that wants the program connects within seconds of its start
KEY_S_MAX = 5.0  # the key is the first that a server sends
BEAT_S = 5.0
SILENCE_S_MAX = 20.0  # four beats: the server, or the way to it, is lost
GRACE_S = 2.0  # from SIGTERM to SIGKILL; Ray kills after three
FRAME_BYTES_MAX = 1 << 20
PIPE_BYTES = 1 << 16
HEADER = struct.Struct(">cI")
KEY_VARIABLE = "HEDDLE_CONNECTION_KEY"
# Ray's copy of what the job was given, the key among it.
JOB_VARIABLE = "RAY_JOB_CONFIG_JSON_ENV_VAR"
MARKER = ".heddle-workspace"

SOURCES = Path(__file__).resolve().parent.parent


class Start(TypedDict):
    """What to run, as the server says it."""

    args: list[str]
    env: dict[str, str]
    # The folder that it works in and the text of its marker; absent where the workspace is in a bucket.
    workspace: NotRequired[str]
    marker: NotRequired[str]


def main() -> None:
    key = os.environ.pop(KEY_VARIABLE, "").encode()
    if not key:
        raise SystemExit(f"{KEY_VARIABLE} is not set: this is started by a server")
    os.environ.pop(JOB_VARIABLE, None)
    host = node_address(os.environ.get("RAY_ADDRESS", ""))
    with socket.create_server((host, 0), family=family_of(host)) as listener:
        print(f"heddle-engine listens on {host} {listener.getsockname()[1]}", flush=True)
        connection = Connection(accept(listener, key))
    connection.send(b"h", json.dumps({"host": host, "port": free_port(host), "package": str(SOURCES.parent)}).encode())
    kind, body = connection.receive()
    if kind != b"s":
        raise SystemExit("The server did not say what to run")
    try:
        program = Program(json.loads(body), connection)
    except (OSError, ValueError) as error:
        end(connection, f"could not be started on {host} ({error})")
    signal.signal(signal.SIGTERM, lambda _number, _frame: program.stop())
    serve(connection, program)


def node_address(cluster: str) -> str:
    """The address of this machine on the way to the head of the cluster."""
    host = urlsplit(f"//{cluster}").hostname
    if host is None:
        return "127.0.0.1"
    family, kind, _protocol, _name, address = socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(address)  # sends nothing
        return str(probe.getsockname()[0])


def family_of(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def free_port(host: str) -> int:
    """A port for a program that serves itself; it exits if another takes it meanwhile."""
    with socket.create_server((host, 0), family=family_of(host)) as listener:
        return listener.getsockname()[1]


def accept(listener: socket.socket, key: bytes) -> socket.socket:
    """The first connection that presents the key; others are closed."""
    until_s = time.monotonic() + CONNECT_S_MAX
    while True:
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            raise SystemExit(f"No server connected within {CONNECT_S_MAX:.0f} s")
        listener.settimeout(left_s)
        try:
            peer, _address = listener.accept()
        except TimeoutError:
            continue
        peer.settimeout(KEY_S_MAX)
        with suppress(OSError):
            kind, presented = receive(peer)
            if kind == b"k" and hmac.compare_digest(presented, key):
                return peer
        peer.close()


def receive(peer: socket.socket) -> tuple[bytes, bytes]:
    """One frame. Raises OSError where the connection ends or is silent."""
    kind, length = HEADER.unpack(receive_exactly(peer, HEADER.size))
    if length > FRAME_BYTES_MAX:
        raise OSError(f"a frame of {length} bytes")
    return kind, receive_exactly(peer, length)


def receive_exactly(peer: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = peer.recv(length - len(parts))
        if not part:
            raise OSError("the connection ended")
        parts += part
    return bytes(parts)


class Connection:
    """Frames to and from the server; from any thread. Raises OSError when it is lost."""

    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._sending = threading.Lock()
        peer.settimeout(SILENCE_S_MAX)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_closing = False

    def send(self, kind: bytes, body: bytes = b"") -> None:
        with self._sending:
            self._peer.sendall(HEADER.pack(kind, len(body)) + body)

    def receive(self) -> tuple[bytes, bytes]:
        return receive(self._peer)

    def close(self) -> None:
        """Nothing more is sent. What was is read by the server, which then ends the connection."""
        self.is_closing = True
        self._peer.shutdown(socket.SHUT_WR)


class Program:
    """A program of the engine, which leads a process group of its own."""

    def __init__(self, start: Start, connection: Connection) -> None:
        workspace = start.get("workspace")
        if workspace is not None:
            check_workspace(Path(workspace), start.get("marker", ""))
        parent = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, *start["args"]],
            env=os.environ | {"PYTHONPATH": str(SOURCES)} | start["env"],
            cwd=workspace or SOURCES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            preexec_fn=lambda: end_with_parent(signal.SIGKILL, parent),
        )
        self._input = queue.SimpleQueue[bytes | None]()
        self._pumps = [
            self._thread(pump, stream, connection, kind)
            for stream, kind in ((self._process.stdout, b"o"), (self._process.stderr, b"e"))
        ]
        self._thread(self._feed, self._process.stdin)
        self._thread(self._await_end, connection)

    def write(self, body: bytes) -> None:
        self._input.put(body)

    def stop(self) -> None:
        """Ask for an end, and after a grace period kill."""
        self._input.put(None)
        self._kill(signal.SIGTERM)
        killer = threading.Timer(GRACE_S, self.kill)
        killer.daemon = True
        killer.start()

    def kill(self) -> None:
        self._kill(signal.SIGKILL)

    def _kill(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _feed(self, stdin: IO[bytes]) -> None:
        with stdin:
            while body := self._input.get():
                try:
                    rest = memoryview(body)
                    while rest:
                        rest = rest[os.write(stdin.fileno(), rest) :]
                except OSError:
                    return  # it has ended, which is reported by itself

    def _await_end(self, connection: Connection) -> None:
        code = self._process.wait()
        # Processes that it started would keep its pipes open.
        self.kill()
        for thread in self._pumps:
            thread.join(GRACE_S)
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        end(connection, how)

    def _thread(self, target: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, daemon=True)
        thread.start()
        return thread


def check_workspace(folder: Path, marker: str) -> None:
    """Raises ValueError where the node does not see the server's workspace."""
    try:
        found = (folder / MARKER).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError(f"{folder} is not the server's workspace: {error.strerror}: {MARKER}") from error
    if found != marker:
        raise ValueError(f"{folder} is the workspace of another server")


def pump(stream: IO[bytes], connection: Connection, kind: bytes) -> None:
    # The thread that receives notices a lost connection too.
    with suppress(OSError):
        while part := os.read(stream.fileno(), PIPE_BYTES):
            connection.send(kind, part)


def serve(connection: Connection, program: Program) -> NoReturn:
    """Do what the server says until it is gone."""
    threading.Thread(target=beat, args=(connection,), daemon=True).start()
    try:
        while True:
            kind, body = connection.receive()
            if kind == b"i":
                program.write(body)
            elif kind == b"t":
                program.stop()
            elif kind == b"q":
                program.kill()
    except OSError as error:
        program.kill()
        if not connection.is_closing:
            print(f"The server is gone: {error}", flush=True)
        os._exit(0)


def beat(connection: Connection) -> None:
    with suppress(OSError):
        while True:
            connection.send(b"b")
            time.sleep(BEAT_S)


def end(connection: Connection, how: str) -> NoReturn:
    print(f"The program ended: {how}", flush=True)
    with suppress(OSError):
        connection.send(b"x", json.dumps({"how": how}).encode())
        connection.close()
        time.sleep(GRACE_S)
    os._exit(0)


if __name__ == "__main__":
    main()
