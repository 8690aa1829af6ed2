"""Logs a run without a server, sends it with `wandb sync`, and reads it back. Prints the results."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import wandb

PROJECT = sys.argv[1]
FOLDER = Path(tempfile.mkdtemp())
os.chdir(FOLDER)


def log_offline() -> None:
    with wandb.init(
        project=PROJECT, id="off", mode="offline", config={"lr": 0.1}
    ) as run:
        for step in range(5):
            run.log({"loss": 1 / (step + 1)})
        artifact = wandb.Artifact("data", type="dataset")
        with artifact.new_file("one.txt") as file:
            file.write("one")
        run.log_artifact(artifact)
        run.log({"table": wandb.Table(columns=["a"], data=[[1]])})
        Path("saved.txt").write_text("saved")
        run.save("saved.txt", policy="now")


def sync() -> None:
    command = [
        sys.executable,
        "-m",
        "wandb",
        "sync",
        *map(str, Path("wandb").glob("offline-*")),
    ]
    subprocess.run(command, check=True, stdout=sys.stderr)


def text_of(artifact: wandb.Artifact, name: str) -> str:
    return (Path(artifact.download(root=tempfile.mkdtemp())) / name).read_text()


log_offline()
sync()
api = wandb.Api()
path = f"local/{PROJECT}"
read = api.run(f"{path}/off")
table = next(iter(api.artifacts("run_table", f"{path}/run-off-table")))
seen = {
    "state": read.state,
    "config": read.config,
    "losses": [row["loss"] for row in read.scan_history(keys=["loss"])],
    "saved": Path(
        read.file("saved.txt").download(root=tempfile.mkdtemp()).name
    ).read_text(),
    "artifacts": sorted(artifact.name for artifact in read.logged_artifacts()),
    "listed": [artifact.name for artifact in api.artifacts("dataset", f"{path}/data")],
    "collections": [
        found.name for found in api.artifact_type("dataset", path).collections()
    ],
    "file": text_of(api.artifact(f"{path}/data:latest"), "one.txt"),
    "table": json.loads(text_of(table, "table.table.json"))["data"],
}
read.file("saved.txt").delete()
seen["saved_after"] = [found.name for found in read.files(names=["saved.txt"])]
wandb.teardown()
print(json.dumps(seen))
