"""A folder for the copies of one process, which the next process removes where this one cannot."""

import fcntl
import shutil
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO

LOCK = ".lock"


def claim_folder(root: Path) -> tuple[Path, IO[str]]:
    """A new folder in `root`, and what it is claimed by: an open file, whose lock ends with the process, however that
    ends. Folders of processes that have ended are removed."""
    root.mkdir(parents=True, exist_ok=True)
    for lock in root.glob(f"*{LOCK}"):
        remove_abandoned(lock)
    own = root / uuid.uuid4().hex
    # The lock is there before the folder, so that no other process finds the folder without it.
    claim = own.with_suffix(LOCK).open("w")
    fcntl.flock(claim, fcntl.LOCK_EX)
    own.mkdir()
    return own, claim


def remove_abandoned(lock: Path) -> None:
    folder = lock.with_suffix("")
    with suppress(OSError), lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A process that has opened its lock and not taken it has no folder yet.
        if folder.is_dir():
            shutil.rmtree(folder)
            lock.unlink()
