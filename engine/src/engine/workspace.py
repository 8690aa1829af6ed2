"""Where the folders that requests name are: below one root, which the server sees too.

The root is a folder that both share, or a prefix of a bucket of S3 (bucket.py), of which this machine has copies.
"""

import argparse
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from engine.beat import BEAT_S, Beat
from engine.contract import CreateAdapter, MergeAdapter, RlJob, SftJob

Request = TypeVar("Request", bound=CreateAdapter | MergeAdapter | RlJob | SftJob)
Result = TypeVar("Result")

BUCKET = "s3://"


class Workspace(Protocol):
    def fetch(self, name: str) -> Path:
        """The path of a folder that is there.

        :raises Problem: it is not, or cannot be reached
        """
        ...

    def find(self, name: str) -> Path:
        """As `fetch`, of a folder that may not be there: then its path does not exist."""
        ...

    def place(self, name: str) -> Path:
        """The path of a folder to write; it does not exist."""
        ...

    def publish(self, name: str) -> None:
        """Shows the server a folder that was written at its path, in place of what it had under that name."""
        ...

    def forget(self, name: str) -> None:
        """This machine needs the folder no more, and publishes it no more."""
        ...


@dataclass(frozen=True)
class SharedFolder:
    """A root that the server sees at the same time: nothing moves."""

    root: Path

    def fetch(self, name: str) -> Path:
        return self.root / name

    find = place = fetch

    def publish(self, name: str) -> None:
        pass

    def forget(self, name: str) -> None:
        pass


def workspace_at(address: str, copies: Path) -> Workspace:
    """:param copies: where a bucket's folders are copied to; a shared folder needs no other place"""
    if not address.startswith(BUCKET):
        return SharedFolder(Path(address))
    # Its library is needed nowhere else.
    from engine.bucket import Bucket

    return Bucket(address, copies)


def default_copies_folder() -> Path:
    """One that all engines of this user share."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "heddle" / "workspace"


def add_workspace_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workspace", default=".", help="where the folders of requests are: a folder, or s3://bucket/prefix"
    )
    parser.add_argument(
        "--workspace-copies",
        type=Path,
        default=default_copies_folder(),
        help="with a bucket: where this machine copies them to",
    )


@dataclass
class Publisher:
    """Shows the server what was written for a request."""

    workspace: Workspace
    request: CreateAdapter | MergeAdapter | RlJob | SftJob
    beat: Beat

    def publish_output(self) -> None:
        waiting(lambda: self.workspace.publish(self.request.output_dir), self.beat)

    def publish_work(self) -> None:
        """The state of a job, without a beat: on a thread beside its steps."""
        if isinstance(self.request, RlJob | SftJob):
            self.workspace.publish(self.request.work_dir)


@contextmanager
def on_this_machine(workspace: Workspace, request: Request, beat: Beat) -> Generator[tuple[Request, Publisher]]:
    """The request with paths of this machine in place of the names of its folders, which are fetched before and
    forgotten after it."""
    named = request.model_dump()
    paths = {"output_dir": workspace.place(request.output_dir)}
    used = [request.output_dir]

    def fetch(name: str, how: Callable[[str], Path]) -> Path:
        used.append(name)
        return waiting(lambda: how(name), beat)

    try:
        for field in ("checkpoint_dir", "reference_dir"):
            if named.get(field) is not None:
                paths[field] = fetch(named[field], workspace.fetch)
        for field in ("data_path", "trajectory_groups_path"):
            if field in named:
                folder, file = os.path.split(named[field])
                paths[field] = fetch(folder, workspace.fetch) / file
        if "work_dir" in named:
            paths["work_dir"] = fetch(named["work_dir"], workspace.find)
        publisher = Publisher(workspace, request, beat)
        yield request.model_copy(update={field: str(path) for field, path in paths.items()}), publisher
    finally:
        for name in used:
            workspace.forget(name)


def waiting(work: Callable[[], Result], beat: Beat) -> Result:
    """Works on a thread, with a beat every second. Where a beat raises, the work is left alone."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(BEAT_S)
    while thread.is_alive():
        beat()
        thread.join(BEAT_S)
    for error in errors:
        raise error
    return results[0]
