"""A run and an artifact with a key that reads nothing, and the same run once more."""

import json
import sys
import tempfile
from pathlib import Path

import wandb

folder = Path(tempfile.mkdtemp())
(folder / "one.txt").write_text("one")


def log(first: int) -> None:
    with wandb.init(
        project=sys.argv[1],
        id="ingested",
        name="The name" if first == 0 else None,
        dir=str(folder),
        config={"first": first},
    ) as run:
        for step in range(first, first + 3):
            run.log({"loss": 1 / (step + 1)}, step=step)
        artifact = wandb.Artifact("data", type="dataset")
        artifact.add_file(str(folder / "one.txt"))
        run.log_artifact(artifact)
        run.summary["best"] = first


log(0)
log(3)
print(json.dumps({"done": True}))
