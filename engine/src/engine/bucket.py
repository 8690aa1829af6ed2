"""A workspace in a bucket of S3. The server has the other half, in `src/stores/workspace/bucket-folders.ts`, which says
what the objects are.

A folder is copied to this machine as a whole, and again only where it has been replaced.
"""

import json
import os
import re
import shutil
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import obstore
from obstore.exceptions import BaseError, GenericError
from obstore.store import S3Store

from engine.local_copies import claim_folder
from engine.problem import Problem, one_line

if TYPE_CHECKING:
    from obstore.store import ClientConfig

Result = TypeVar("Result")

ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]+)/?(?P<prefix>[\w./-]*)")
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")

# A bucket that does not answer for this long fails what needs it; jobs wait, since they would begin again elsewhere.
OUTAGE_S_MAX = 1800.0
PAUSE_S_MAX = 15.0

# A folder may be replaced while it is copied; more often than this, something else is wrong.
REPLACED_MAX = 5

# S3 takes at most 10,000 parts of an object.
PART_BYTES, PARTS_MAX = 8 << 20, 9_000
PARTS_AT_ONCE = 4
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Content:
    """What a folder has: the object below `folders/`."""

    generation: str
    files: list[tuple[str, int]]
    """Names and bytes."""

    def to_json(self) -> bytes:
        files = [{"name": name, "bytes": size} for name, size in self.files]
        return json.dumps({"generation": self.generation, "files": files}).encode()

    @staticmethod
    def from_json(text: bytes) -> "Content":
        value = cast(dict[str, Any], json.loads(text))
        files = [(Path(file["name"]).name, int(file["bytes"])) for file in value["files"]]
        return Content(value["generation"], files)


class Bucket:
    def __init__(self, address: str, local: Path, outage_s: float = OUTAGE_S_MAX) -> None:
        """Credentials, region and endpoint are those of the usual variables, or of the machine's role.

        :param local: copies are in a folder inside, which is this process's own
        """
        found = ADDRESS.fullmatch(address)
        if found is None:
            raise Problem(f"{address} is no address such as s3://bucket/prefix")
        self.address = address.rstrip("/")
        self._outage_s = outage_s
        self._store = S3Store(
            found["bucket"],
            prefix=found["prefix"].strip("/") or None,
            client_options=client_options(),
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=60)},
        )
        self._local, self._claim = claim_folder(local)
        # What is here, and of which generation.
        self._copies: dict[str, str] = {}
        # Folders that were not forgotten: no other is copied to its place, or published.
        self._used = set[str]()

    def fetch(self, name: str) -> Path:
        path = self.find(name)
        if not path.exists():
            raise Problem(f"the workspace {self.address} has no folder {name}")
        return path

    def find(self, name: str) -> Path:
        path = self._path(name)
        self._used.add(name)
        for _ in range(REPLACED_MAX):
            content = self._content(name)
            if content is None:
                self._remove_copy(name)
                return path
            if self._copies.get(name) == content.generation or self._copy(name, content):
                return path
        raise Problem(f"the folder {name} of the workspace {self.address} is replaced while it is read")

    def place(self, name: str) -> Path:
        path = self._path(name)
        self._used.add(name)
        return path

    def publish(self, name: str) -> None:
        path = self._path(name)
        files = sorted(file for file in path.iterdir() if file.is_file())
        content = Content(uuid.uuid4().hex, [(file.name, file.stat().st_size) for file in files])
        before = self._content(name)
        for key, file in zip(keys_of(name, content), files, strict=True):
            self._upload(key, file)
        # It may be forgotten while it is sent; then the server does not expect it any more.
        if name in self._used:
            self._put(f"folders/{name}", content.to_json())
        if name not in self._used:
            self._delete([f"folders/{name}", *keys_of(name, content)])
        elif before is not None:
            self._delete(keys_of(name, before))

    def forget(self, name: str) -> None:
        self._used.discard(name)
        self._remove_copy(name)

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise Problem(f"{name} is no name of a folder in the workspace")
        return self._local / name

    def _remove_copy(self, name: str) -> None:
        self._copies.pop(name, None)
        shutil.rmtree(self._path(name), ignore_errors=True)

    def _content(self, name: str) -> Content | None:
        try:
            return Content.from_json(self._asked(lambda: bytes(obstore.get(self._store, f"folders/{name}").bytes())))
        except FileNotFoundError:
            return None

    def _copy(self, name: str, content: Content) -> bool:
        """Whether it was still there as a whole."""
        path = self._path(name)
        aside = path.with_name(f"{path.name}.{content.generation}")
        try:
            aside.mkdir(parents=True, exist_ok=True)
            for key, (file, size) in zip(keys_of(name, content), content.files, strict=True):
                self._asked(partial(self._download, key, aside / file, size))
            self._remove_copy(name)
            if name not in self._used:
                raise Problem(f"{name} is needed no more")
            aside.rename(path)
        except FileNotFoundError:
            return False
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        self._copies[name] = content.generation
        return True

    def _download(self, key: str, target: Path, size: int) -> None:
        with target.open("wb") as file:
            for chunk in obstore.get(self._store, key).stream(min_chunk_size=CHUNK_BYTES):
                file.write(chunk)
        if target.stat().st_size != size:
            raise GenericError(f"{key} has {target.stat().st_size} bytes instead of {size}")

    def _upload(self, key: str, file: Path) -> None:
        size = max(PART_BYTES, -(-file.stat().st_size // PARTS_MAX))
        self._put(key, file, size)

    def _put(self, key: str, content: Path | bytes, part_bytes: int = PART_BYTES) -> None:
        def put() -> object:
            return obstore.put(self._store, key, content, chunk_size=part_bytes, max_concurrency=PARTS_AT_ONCE)

        try:
            self._asked(put)
        except FileNotFoundError as error:
            # The bucket is gone, or what was sent of a large file, or this machine's copy, as after `forget`.
            raise Problem(f"the workspace {self.address} does not take {key}: {one_line(error)}") from error

    def _delete(self, keys: list[str]) -> None:
        try:
            if keys:
                obstore.delete(self._store, keys)
        except (BaseError, FileNotFoundError) as error:
            # The server removes what no folder has.
            print(f"could not delete {keys[0]} and others: {error}", file=sys.stderr, flush=True)

    def _asked(self, ask: Callable[[], Result]) -> Result:
        """Asks again while the bucket does not answer.

        :raises FileNotFoundError: there is no such object
        :raises Problem: it refuses, or did not answer for too long
        """
        deadline = time.monotonic() + self._outage_s
        pause = 0.5
        while True:
            try:
                return ask()
            except FileNotFoundError:
                raise
            except GenericError as error:
                if time.monotonic() > deadline:
                    raise Problem(f"the workspace {self.address} does not answer: {one_line(error)}") from error
                print(f"{self.address} does not answer, asked again: {error}", file=sys.stderr, flush=True)
            except BaseError as error:
                raise Problem(f"the workspace {self.address} refuses: {one_line(error)}") from error
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_S_MAX)


def keys_of(name: str, content: Content) -> list[str]:
    return [f"files/{name}/{content.generation}/{index}" for index in range(len(content.files))]


def client_options() -> "ClientConfig":
    # A large file takes as long as it takes, but never a minute without a byte.
    options: ClientConfig = {
        "allow_http": endpoint().startswith("http://"),
        "connect_timeout": timedelta(seconds=5),
        "read_timeout": timedelta(seconds=60),
        "timeout": timedelta(hours=6),
    }
    if authorities := os.environ.get("AWS_CA_BUNDLE"):
        options["root_certificate"] = Path(authorities).read_bytes()
    return options


def endpoint() -> str:
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    return next((os.environ[name] for name in names if os.environ.get(name)), "")
