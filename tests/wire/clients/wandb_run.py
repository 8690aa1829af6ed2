"""A run and an artifact with calls that all versions of wandb have. Prints what it saw."""

import json
import sys
import tempfile
from pathlib import Path

import wandb

folder = Path(tempfile.mkdtemp())
(folder / "one.txt").write_text("one")

with wandb.init(
    project=sys.argv[1], id="versions", dir=str(folder), config={"lr": 0.1}
) as run:
    for step in range(5):
        run.log({"loss": 1 / (step + 1)})
    artifact = wandb.Artifact("data", type="dataset")
    artifact.add_file(str(folder / "one.txt"))
    run.log_artifact(artifact).wait()

api = wandb.Api()
read = api.run(f"local/{sys.argv[1]}/versions")
taken = api.artifact(f"local/{sys.argv[1]}/data:latest", type="dataset").download(
    str(folder / "taken")
)
seen = {
    "state": read.state,
    "lr": read.config["lr"],
    "losses": [row["loss"] for row in read.scan_history(keys=["loss"])],
    "file": (Path(taken) / "one.txt").read_text(),
}
print(json.dumps(seen))
