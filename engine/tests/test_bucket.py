"""A workspace in a bucket of a real store. The server's tests start one and run these (bucket.cluster.test.ts)."""

import os
import shutil
import signal
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import torch
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from examples import Json, lora, sums, write_lines
from forked import forked_worker
from worker import Worker, engine_environment, files, steps, work_dir

from engine.bucket import REPLACED_MAX, Bucket
from engine.local_copies import claim_folder
from engine.problem import Problem
from engine.trainer.model import BaseModel, adapter, create_adapter
from engine.trainer.state import ProgressKeeper, trainable

pytestmark = pytest.mark.bucket

RL: Json = {"packed_sequence_length": 160, "learning_rate": 3e-3, "seed": 7}
HANGS_S = 60  # ends what would never end
LARGE = 20 << 20  # three parts


@pytest.fixture
def address() -> str:
    return f"{os.environ['HEDDLE_TEST_BUCKET']}/{uuid4().hex}"


@pytest.fixture
def bucket(address: str, tmp_path: Path) -> Bucket:
    return Bucket(address, tmp_path / "copies")


@pytest.fixture
def other(address: str, tmp_path: Path) -> Bucket:
    """The same workspace on another machine."""
    return Bucket(address, tmp_path / "other")


def publish(bucket: Bucket, name: str, contents: dict[str, bytes]) -> None:
    path = bucket.place(name)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    for file, content in contents.items():
        (path / file).write_bytes(content)
    bucket.publish(name)


def test_a_folder_reaches_another_machine(bucket: Bucket, other: Bucket) -> None:
    contents = {"small": b"x", "empty": b"", "ü of many parts": os.urandom(LARGE)}
    publish(bucket, "outputs/1", contents)
    assert files(other.fetch("outputs/1")) == contents
    publish(bucket, "outputs/1", {"small": b"y"})
    assert files(other.fetch("outputs/1")) == {"small": b"y"}


def test_a_copy_is_made_once(bucket: Bucket, other: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(bucket, "outputs/1", {"a": b"x"})
    copied: list[str] = []
    download = Bucket._download  # pyright: ignore[reportPrivateUsage]

    def counted(self: Bucket, key: str, target: Path, size: int) -> None:
        copied.append(key)
        download(self, key, target, size)

    monkeypatch.setattr(Bucket, "_download", counted)
    for _ in range(2):
        other.fetch("outputs/1")
    assert len(copied) == 1
    other.forget("outputs/1")
    assert not other.place("outputs/1").exists()
    other.fetch("outputs/1")
    assert len(copied) == 2


def replaced_while_copied(bucket: Bucket, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the folder jobs/1, of two files, is replaced before the second file of a copy, so many times."""
    download = Bucket._download  # pyright: ignore[reportPrivateUsage]
    copied: list[str] = []

    def replaced_then(self: Bucket, key: str, target: Path, size: int) -> None:
        if target.name == "b" and len(copied) < times:
            copied.append(key)
            content = f"replaced {len(copied)} times".encode()
            publish(bucket, "jobs/1", {"a": content, "b": content})
        download(self, key, target, size)

    monkeypatch.setattr(Bucket, "_download", replaced_then)


def test_a_folder_that_is_replaced_meanwhile_is_the_newest_as_a_whole(
    bucket: Bucket, other: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(bucket, "jobs/1", {"a": b"0", "b": b"0"})
    replaced_while_copied(bucket, REPLACED_MAX - 1, monkeypatch)
    content = f"replaced {REPLACED_MAX - 1} times".encode()
    assert files(other.fetch("jobs/1")) == {"a": content, "b": content}


def test_a_folder_that_is_replaced_without_end_is_no_folder(
    bucket: Bucket, other: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(bucket, "jobs/1", {"a": b"0", "b": b"0"})
    replaced_while_copied(bucket, REPLACED_MAX, monkeypatch)
    with pytest.raises(Problem, match="is replaced while it is read"):
        other.fetch("jobs/1")


def test_what_is_forgotten_is_not_published(bucket: Bucket, other: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bucket.place("outputs/1")
    path.mkdir(parents=True)
    (path / "a").write_bytes(b"x")
    upload = Bucket._upload  # pyright: ignore[reportPrivateUsage]

    def forgotten_then(self: Bucket, key: str, file: Path) -> None:
        upload(self, key, file)
        self.forget("outputs/1")

    monkeypatch.setattr(Bucket, "_upload", forgotten_then)
    bucket.publish("outputs/1")
    assert not other.find("outputs/1").exists()
    with pytest.raises(Problem, match="has no folder outputs/1"):
        other.fetch("outputs/1")


@pytest.mark.parametrize("name", ["../outside", "/etc", "a/../../b", "", "a//b", ".hidden"])
def test_names_stay_inside(bucket: Bucket, name: str) -> None:
    with pytest.raises(Problem, match="no name of a folder"):
        bucket.fetch(name)


def test_a_bucket_that_cannot_be_used(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Problem, match="no address"):
        Bucket("s3://", tmp_path)
    with monkeypatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(Problem, match="refuses"):
            Bucket(address, tmp_path).fetch("a")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    with pytest.raises(Problem, match="does not answer"):
        Bucket(address, tmp_path, outage_s=0).fetch("a")


def test_a_bucket_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is looked for is not there, and one that is written is refused."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), NotFound) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_address[1]}")
        bucket = Bucket("s3://gone", tmp_path)
        assert not bucket.find("jobs/1").exists()
        with pytest.raises(Problem, match="does not take files/jobs/1/"):
            publish(bucket, "jobs/1", {"a": b"x"})
        server.shutdown()


class NotFound(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_error(404)

    do_PUT = do_GET


def test_a_store_with_a_certificate_of_its_own(
    address: str, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(bucket, "outputs/1", {"a": b"x"})
    certificate = make_certificate(tmp_path)
    with encrypted(certificate, urlsplit(os.environ["AWS_ENDPOINT_URL_S3"]).port or 0) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"https://127.0.0.1:{port}")
        with pytest.raises(Problem, match="does not answer"):
            Bucket(address, tmp_path, outage_s=0).fetch("outputs/1")
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
        assert files(Bucket(address, tmp_path).fetch("outputs/1")) == {"a": b"x"}


def make_certificate(folder: Path) -> Path:
    """A file with a certificate for 127.0.0.1, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
    return path


@contextmanager
def encrypted(certificate: Path, port: int) -> Generator[int]:
    """Another port, on which connections to this one are encrypted."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Forward(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as client,
                socket.create_connection(("127.0.0.1", port)) as store,
            ):
                threading.Thread(target=pump, args=(store, client), daemon=True).start()
                pump(client, store)

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forward) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_copies_of_a_process_that_was_killed_are_removed(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from engine.local_copies import claim_folder\n"
    code += "claimed = claim_folder(Path(sys.argv[1])); print(claimed[0], flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(
        command, env=engine_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        _, claim = claim_folder(tmp_path)
        assert folder.is_dir()
        process.send_signal(signal.SIGKILL)
    own, other_claim = claim_folder(tmp_path)
    assert not folder.exists()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == sorted(
        [own.name, Path(claim.name).stem]
    )
    claim.close()
    other_claim.close()


@contextmanager
def on_a_machine(address: str, folder: Path, **options: Any) -> Generator[Worker]:
    """A worker with an empty folder, which is lost with it."""
    folder.mkdir()
    flags = [f"--workspace={address}", f"--workspace-copies={folder}"]
    try:
        with forked_worker(flags=flags, **options) as worker:
            assert worker.read()["kind"] == "worker_ready"
            yield worker
    finally:
        shutil.rmtree(folder)


def test_a_job_goes_on_on_another_machine(bucket: Bucket, address: str, tokenizer: Any, tmp_path: Path) -> None:
    data, source, whole, broken = Path("data/1"), Path("checkpoints/1"), Path("outputs/whole"), Path("outputs/broken")
    groups = tmp_path / "groups"
    write_lines(groups, sums(tokenizer, 8))
    publish(bucket, str(data), {"data.jsonl": groups.read_bytes()})
    with on_a_machine(address, tmp_path / "machine-1") as worker:
        made = worker.create_adapter(source)
        assert made == {"kind": "adapter_created", "request_id": "r1", "directory": "checkpoints/1"}
        messages = worker.run_job("j", source, whole, data / "data.jsonl", **RL)
        assert messages[-1]["directory"] == "outputs/whole"
    total = len(steps(messages))
    assert total >= 5
    # States are written one after the other, each when the one before is published.
    with on_a_machine(address, tmp_path / "machine-2", killed_at=("engine.trainer.state.write_progress", 2)) as worker:
        worker.start_job("j", source, broken, data / "data.jsonl", **RL)
        assert worker.process.wait() == -signal.SIGKILL
    assert bucket.find(str(work_dir(broken))).exists()
    assert not bucket.find(str(broken)).exists()
    # It would kill itself in the last of the steps, if it took all of them.
    last = ("torch.optim.AdamW.step", total)
    with on_a_machine(address, tmp_path / "machine-3", killed_at=last) as worker:
        resumed = worker.run_job("j", source, broken, data / "data.jsonl", **RL)
    assert len(steps(resumed)) == total
    assert files(bucket.fetch(str(broken))) == files(bucket.fetch(str(whole)))


def test_a_job_without_its_source_fails_by_name(address: str, tmp_path: Path) -> None:
    with on_a_machine(address, tmp_path / "machine") as worker:
        messages = worker.run_job("j", Path("checkpoints/none"), Path("outputs/1"), Path("data/1/data.jsonl"))
        assert messages[-1]["kind"] == "job_failed"
        assert "has no folder checkpoints/none" in messages[-1]["error_message"]


def test_steps_do_not_wait_for_the_bucket(base: BaseModel, tmp_path: Path) -> None:
    """Nor does a job fail where a state cannot be published."""
    published: list[int] = []
    begun, go = threading.Semaphore(0), threading.Semaphore(0)

    def slow() -> None:
        begun.release()
        go.acquire()
        published.append(len(published))
        if len(published) == 1:
            raise Problem("the bucket is away")

    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model:
        keeper = ProgressKeeper(tmp_path / "work", slow)
        optimizer = torch.optim.AdamW([*trainable(model).values()])
        for count in range(1, 5):
            keeper.keep([{}] * count, optimizer, model)
            if count == 1:
                begun.acquire()
        assert not keeper.wait(0)
        go.release(4)
        assert keeper.wait(HANGS_S)
    # The state of the first step, and the newest of the others.
    assert len(published) == 2
