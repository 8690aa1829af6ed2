"""Common uses of wandb: log a run, resume it, read it back; log, use, rename and delete artifacts. Prints the results."""

import json
import os
import sys
import tempfile
from pathlib import Path

import wandb

PROJECT = f"local/{sys.argv[1]}"
FOLDER = Path(tempfile.mkdtemp())
# Where artifacts are downloaded to, unless another folder is named.
os.environ["WANDB_ARTIFACT_DIR"] = str(FOLDER / "artifacts")
FILES = {
    "one.txt": b"one",
    "empty": b"",
    "folder/random.bin": os.urandom(300_000),
    "folder/deep/\u00fc 1+1?.txt": b"drei",
}


def start(run_id: str, **options: object) -> wandb.Run:
    return wandb.init(project=sys.argv[1], id=run_id, dir=str(FOLDER), **options)


def attempt(work) -> str:
    """The client's error for a refused request."""
    try:
        work()
    except (wandb.Error, ValueError) as error:
        return str(error)
    return ""


def log_run() -> dict[str, object]:
    with start(
        "first",
        name="The first",
        config={"lr": 0.1, "layers": [1, 2]},
        tags=["a"],
        notes="a note",
    ) as run:
        for i in range(20):
            run.log(
                {
                    "loss": 1 / (i + 1),
                    "deep": {"x": i},
                    "text": "t",
                    "bad": float("nan"),
                }
            )
        run.summary["best"] = 7
        run.config.update({"more": True})
        print("a line of output")
    read = wandb.Api().run(f"{PROJECT}/first")
    return {
        "state": read.state,
        "name": read.name,
        "tags": read.tags,
        "notes": read.notes,
        "config": read.config,
        "summary": {
            key: read.summary[key] for key in ("best", "loss", "text", "_step")
        },
        "nan": str(read.summary["bad"]),
        "losses": [row["loss"] for row in read.scan_history()],
        "range": [row["_step"] for row in read.scan_history(min_step=3, max_step=6)],
        "sampled": read.history(keys=["loss", "deep.x"], samples=4, pandas=False),
        "steps": [row["_step"] for row in read.history(samples=10, pandas=False)],
        "system": len(read.history(stream="system", pandas=False)) > 0,
        "files": sorted(file.name for file in read.files()),
        "metadata": read.metadata is not None,
        "output": [line.content for line in read.console_logs()],
        "runs": [run.id for run in wandb.Api().runs(PROJECT)],
    }


def find_runs() -> list[list[str]]:
    """Runs by what is in their configs and summaries, and by these in order."""
    api = wandb.Api()
    found = [
        api.runs(PROJECT, filters={"config.lr": {"$lt": 0.2}}),
        api.runs(PROJECT, filters={"summary_metrics.best": 7, "state": "finished"}),
        api.runs(PROJECT, filters={"display_name": {"$regex": "^The"}}),
        api.runs(
            PROJECT,
            filters={"config.lr": {"$exists": False}},
            order="-summary_metrics.i",
            per_page=1,
        )[:2],
    ]
    return [[run.id for run in runs] for runs in found]


def resume() -> dict[str, object]:
    seen: dict[str, object] = {
        "must": attempt(lambda: start("nobody", resume="must")),
        "started_at": [],
    }
    for how in ("allow", "allow", "must"):
        with start("again", resume=how, config={how: 1}) as run:
            seen["started_at"].append(run.starting_step)
            run.log({"how": how})
            run.log({"how": how})
            print("output")
    seen["never"] = attempt(lambda: start("again", resume="never"))
    read = wandb.Api().run(f"{PROJECT}/again")
    seen["history"] = [(row["_step"], row["how"]) for row in read.scan_history()]
    seen["config"] = read.config
    seen["output"] = len(list(read.console_logs()))
    run = start("failing")
    run.finish(exit_code=3)
    seen["failed"] = wandb.Api().run(f"{PROJECT}/failing").state
    return seen


def stop_run() -> list[str]:
    """The states of a run that is asked to stop, ends and is resumed."""
    with start("stopped") as run:
        wandb.Api().run(f"{PROJECT}/stopped").stop()
        run.config.update({"late": 1})
    states = [wandb.Api().run(f"{PROJECT}/stopped").state]
    with start("stopped", resume="must"):
        states.append(wandb.Api().run(f"{PROJECT}/stopped").state)
    return [*states, wandb.Api().run(f"{PROJECT}/stopped").state]


def refused_runs() -> list[str]:
    """The client's errors for runs that the server does not support."""
    return [
        attempt(lambda: start("shared", mode="shared")),
        attempt(lambda: start("forked", fork_from="first?_step=3")),
        attempt(lambda: start("stopped", fork_from="first?_step=3")),
    ]


def rewind() -> list[object]:
    """The history and output of a run of ten steps that goes on from its third."""
    with start("rewound") as run:
        for i in range(10):
            run.log({"i": i})
            print("before")
    with wandb.init(
        project=sys.argv[1], dir=str(FOLDER), resume_from="rewound?_step=2"
    ) as run:
        run.log({"i": "after"})
        print("after")
    read = wandb.Api().run(f"{PROJECT}/rewound")
    return [
        [row["i"] for row in read.scan_history()],
        [line.content for line in read.console_logs()],
        read.state,
    ]


def change_run() -> dict[str, object]:
    run = wandb.Api().run(f"{PROJECT}/first")
    run.config["added"] = 5
    run.notes = "changed"
    run.tags.append("b")
    run.update()
    run.summary.update({"later": 1})
    read = wandb.Api().run(f"{PROJECT}/first")
    wandb.Api().run(f"{PROJECT}/failing").delete()
    return {
        "config": read.config,
        "notes": read.notes,
        "tags": read.tags,
        "later": read.summary["later"],
        "state": read.state,
        "deleted": attempt(lambda: wandb.Api().run(f"{PROJECT}/failing")),
    }


def make_artifact(name: str, files: dict[str, bytes]) -> wandb.Artifact:
    folder = Path(tempfile.mkdtemp())
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    artifact = wandb.Artifact(
        name, type="dataset", metadata={"k": {"v": 1}}, description="what it is"
    )
    artifact.add_dir(str(folder))
    return artifact


def download(artifact: wandb.Artifact) -> Path:
    # After one download past the client's cache, others of the same process mix up files if they use it.
    return Path(artifact.download(root=tempfile.mkdtemp(), skip_cache=True))


def contents_of(artifact: wandb.Artifact) -> dict[str, bytes]:
    root = download(artifact)
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def log_artifacts() -> dict[str, object]:
    with start("artifacts") as run:
        first = run.log_artifact(make_artifact("data", FILES), aliases=["x"]).wait()
        same = run.log_artifact(make_artifact("data", FILES), aliases=["y"]).wait()
        other = run.log_artifact(
            make_artifact("data", {"one.txt": b"1"}), aliases=["x"]
        ).wait()
        draft = run.use_artifact("data:y").new_draft()
        with draft.new_file("two.txt") as file:
            file.write("two")
        drafted = run.log_artifact(draft).wait()
        reference = wandb.Artifact("refers", type="dataset")
        reference.add_reference(
            run.use_artifact("data:v0").get_entry("one.txt").ref_url(), name="r"
        )
        outside = FOLDER / "outside.txt"
        outside.write_text("outside")
        reference.add_reference(f"file://{outside}", name="o")
        run.log_artifact(reference).wait()
        referred = run.use_artifact("refers:latest")
        refers = [
            Path(referred.get_entry(name).download()).read_text() for name in "ro"
        ]
        # A table that another artifact has, both logged just now.
        tables = wandb.Artifact("tables", type="dataset")
        table = wandb.Table(columns=["k"], data=[[1], [2]])
        tables.add(table, "t")
        run.log_artifact(tables)
        again = wandb.Artifact("again", type="dataset")
        again.add(table, "u")
        run.log_artifact(again).wait()
        # The server may have stored the second before the first is complete.
        tables.wait()
        same_table = run.use_artifact("again:latest").get("u").data
        taken = contents_of(run.use_artifact("data:v0"))
    read = wandb.Api().artifact(f"{PROJECT}/data:v0")
    return {
        "versions": [artifact.version for artifact in (first, same, other, drafted)],
        "same_bytes": taken == FILES,
        "drafted": contents_of(drafted) == {**FILES, "two.txt": b"two"},
        "refers": refers,
        "same_table": same_table,
        "read": [read.type, read.size, read.metadata, read.description, read.state],
        "verified": read.verify(str(download(read))) is None,
        "entry": Path(
            read.get_entry("one.txt").download(root=tempfile.mkdtemp(), skip_cache=True)
        ).read_text(),
        "logged_by": read.logged_by().id,
        "used_by": [user.id for user in read.used_by()],
    }


def change_artifacts() -> dict[str, object]:
    api = wandb.Api()
    artifact = api.artifact(f"{PROJECT}/data:v0")
    artifact.aliases.append("best")
    artifact.metadata["more"] = [1]
    artifact.tags = ["tag"]
    artifact.save()
    listed = {
        version.version: sorted(version.aliases)
        for version in api.artifacts("dataset", f"{PROJECT}/data")
    }
    named = wandb.Api().artifact(f"{PROJECT}/data:best")
    refused = attempt(artifact.delete)
    wandb.Api().artifact(f"{PROJECT}/data:v2").delete(delete_aliases=True)
    latest = wandb.Api().artifact(f"{PROJECT}/data:latest")
    with start("artifacts", resume="must") as run:
        after = run.log_artifact(make_artifact("data", {"a": b"new"})).wait()
    return {
        "aliases": listed,
        "metadata": named.metadata,
        "tags": named.tags,
        "refused": refused,
        "latest_after_delete": latest.version,
        "never_used_again": after.version,
        "exists": [
            api.artifact_exists(f"{PROJECT}/data:{name}") for name in ("v0", "v2")
        ],
        "types": [kind.name for kind in api.artifact_types(PROJECT)],
        "collections": [c.name for c in api.artifact_collections(PROJECT, "dataset")],
    }


seen = {
    "run": log_run(),
    "resumed": resume(),
    "stopped": stop_run(),
    "unsupported": refused_runs(),
    "rewound": rewind(),
    "found": find_runs(),
    "changed": change_run(),
    "artifacts": log_artifacts(),
    "renamed": change_artifacts(),
}
# The client's last output comes before the line of this program.
wandb.teardown()
print(json.dumps(seen))
