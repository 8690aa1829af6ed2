"""Common uses of collections of wandb: link versions, read them through links, unlink, rename, tag, delete. Prints the results."""

import json
import sys
import tempfile
from pathlib import Path

import wandb

PROJECT = f"local/{sys.argv[1]}"
SHELF = f"{PROJECT}-shelf/shelf"
FOLDER = Path(tempfile.mkdtemp())


def attempt(work) -> str:
    """The client's error for a refused request."""
    try:
        work()
    except (wandb.Error, ValueError) as error:
        return str(error)
    return ""


def make_artifact(name: str, text: str) -> wandb.Artifact:
    artifact = wandb.Artifact(name, type="dataset")
    with artifact.new_file("text.txt") as file:
        file.write(text)
    return artifact


def text_of(artifact: wandb.Artifact) -> str:
    root = artifact.download(root=tempfile.mkdtemp(), skip_cache=True)
    return (Path(root) / "text.txt").read_text()


def collection(path: str) -> object:
    return wandb.Api().artifact_collection("dataset", path)


def exists(path: str) -> bool:
    return wandb.Api().artifact_exists(path)


def link() -> dict[str, object]:
    with wandb.init(project=sys.argv[1], dir=str(FOLDER)) as run:
        first = run.log_artifact(make_artifact("data", "first")).wait()
        second = run.log_artifact(make_artifact("data", "second")).wait()
        run.link_artifact(second, SHELF)
        linked = run.link_artifact(first, SHELF, aliases=["best"])
        again = first.link(SHELF, aliases=["again"])
        draft = run.link_artifact(make_artifact("draft", "draft"), "local-shelf")
        used = run.use_artifact(f"{SHELF}:best")
    read = wandb.Api().artifact(f"{SHELF}:best")
    return {
        "linked": [linked.name, linked.is_link, linked.source_name, linked.aliases],
        "again": [again.name, sorted(again.aliases)],
        "draft": [draft.qualified_name, draft.source_name],
        "used": [used.name, text_of(used)],
        "read": [read.version, read.source_version, read.type, text_of(read)],
        "source": read.source_artifact.qualified_name,
        "latest": wandb.Api().artifact(f"{SHELF}:latest").source_version,
        "numbered": text_of(wandb.Api().artifact(f"{SHELF}:v0")),
        "links": [
            [version.qualified_name, sorted(version.aliases)]
            for version in wandb.Api().artifact(f"{PROJECT}/data:v0").linked_artifacts
        ],
        "listed": [
            [version.version, version.name]
            for version in wandb.Api().artifacts("dataset", SHELF)
        ],
    }


def change_links() -> dict[str, object]:
    linked = wandb.Api().artifact(f"{SHELF}:v1")
    linked.aliases.append("more")
    linked.aliases.remove("again")
    linked.save()
    aliases = sorted(wandb.Api().artifact(f"{SHELF}:v1").aliases)
    wandb.Api().artifact(f"{SHELF}:v1").unlink()
    return {
        "aliases": aliases,
        "unlinked": [exists(f"{SHELF}:{name}") for name in ("v0", "v1", "best")],
        "source_kept": text_of(wandb.Api().artifact(f"{PROJECT}/data:v0")),
        "refused": attempt(wandb.Api().artifact(f"{PROJECT}/data:v0").unlink),
    }


def change_collections() -> dict[str, object]:
    seen: dict[str, object] = {}
    for kind, path in (("sequence", f"{PROJECT}/data"), ("portfolio", SHELF)):
        changed = collection(path)
        changed.name += "-new"
        changed.description = f"a {kind}"
        changed.tags = ["a", "b"]
        changed.save()
        tagged = collection(f"{path}-new")
        tagged.tags = ["b", "c"]
        tagged.save()
        read = collection(f"{path}-new")
        seen[kind] = [
            read.is_sequence(),
            read.name,
            read.description,
            sorted(read.tags),
            sorted(read.aliases),
            [version.version for version in read.artifacts()],
        ]
    moved = collection(f"{PROJECT}/draft")
    wandb.Api().artifact_collection("dataset", f"{PROJECT}/local-shelf").delete()
    moved.type = "notes"
    moved.save()
    seen["moved"] = wandb.Api().artifact(f"{PROJECT}/draft:v0").type
    return seen


def delete_collections() -> dict[str, object]:
    collection(f"{SHELF}-new").delete()
    kept = exists(f"{PROJECT}/data-new:v1")
    collection(f"{PROJECT}/data-new").delete()
    return {
        "kept": kept,
        "shelf": exists(f"{SHELF}-new:v0"),
        "sequence": exists(f"{PROJECT}/data-new:v1"),
        "left": [
            found.name for found in wandb.Api().artifact_collections(PROJECT, "notes")
        ],
    }


seen = {
    "linked": link(),
    "changed": change_links(),
    "collections": change_collections(),
    "deleted": delete_collections(),
}
# The client's last output comes before the line of this program.
wandb.teardown()
print(json.dumps(seen))
