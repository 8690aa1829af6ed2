"""Reads the history of a run of many steps in several ways. Prints what it saw."""

import json
import sys
import tempfile

import wandb

STEPS = 2_500

with wandb.init(project=sys.argv[1], id="long", dir=tempfile.mkdtemp()) as run:
    for step in range(STEPS):
        rare = {"rare": step} if step % 500 == 0 else {}
        run.log({"loss": step, **rare})

read = wandb.Api().run(f"local/{sys.argv[1]}/long")


def steps_of(key: str, **how: int) -> list[int]:
    return [row[key] for row in read.scan_history(keys=[key], **how)]


def refused(work) -> str:
    """The client's error."""
    try:
        work()
    except (wandb.Error, ValueError) as error:
        return str(error)
    return ""


def export() -> str:
    """The kind of error with which the client says that an export lacks something."""
    from wandb.apis.public import runhistory

    try:
        read.download_history_exports(tempfile.mkdtemp())
    except runhistory.IncompleteRunHistoryError as error:
        return type(error).__name__
    return ""


seen: dict[str, object] = {
    "all": steps_of("loss") == list(range(STEPS)),
    "pages": steps_of("loss", page_size=300) == list(range(STEPS)),
    "rare": steps_of("rare"),
    "range": steps_of("loss", min_step=3, max_step=1_500),
    "large": len(list(read.scan_history(page_size=50_000))),
    "history": len(read.history(samples=100_000, pandas=False)),
    "too_large": refused(lambda: read.history(samples=100_001, pandas=False)),
    "export": export() if hasattr(read, "download_history_exports") else None,
}
wandb.teardown()
print(json.dumps(seen))
