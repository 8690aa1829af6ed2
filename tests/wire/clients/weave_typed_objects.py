"""Objects made by the client's functions for a class and read as objects, and the other way round. Prints both."""

import json
from typing import Any

import weave
from weave.trace.weave_client import WeaveClient


class Doubling(weave.Model):
    factor: int

    @weave.op
    def predict(self, x: int) -> int:
        return self.factor * x


@weave.op
def exact(output: int, expected: int) -> bool:
    return output == expected


def made_by_class(client: WeaveClient, project: dict[str, str]) -> dict[str, Any]:
    server = client.server
    rows = [{"x": 1, "expected": 2}, {"x": 2.0, "expected": 4}]
    dataset = server.dataset_create({**project, "name": "Rows", "rows": rows})
    op = server.op_create({**project, "name": "Add", "source_code": "def add(): ...\n"})
    scorer = server.scorer_create(
        {**project, "name": "Match", "op_source_code": "def score(): ...\n"}
    )
    model = server.model_create(
        {
            **project,
            "name": "Small",
            "source_code": "class Small: ...\n",
            "attributes": {"size": 1.5},
        }
    )
    evaluation = server.evaluation_create(
        {
            **project,
            "name": "Nightly",
            "dataset": "weave:///a/b/object/c:d",
            "scorers": [scorer.scorer],
            "trials": 2,
        }
    )
    read = server.model_read({**project, "object_id": "small", "digest": model.digest})
    found = server.evaluation_read(
        {**project, "object_id": "nightly", "digest": evaluation.digest}
    )
    code = server.op_read({**project, "object_id": "add", "digest": op.digest}).code
    loaded = weave.ref(f"rows:{dataset.digest}").get()
    return {
        "rows": [dict(row) for row in loaded.rows],
        "code": code,
        "model": [read.name, read.source_code, read.attributes],
        "evaluation": [found.scorers == [scorer.scorer], found.trials],
        "model_ref": weave.ref(model.model_ref).get().size,
    }


def made_by_publishing(client: WeaveClient, project: dict[str, str]) -> dict[str, Any]:
    server = client.server
    dataset = weave.Dataset(name="published", rows=[{"x": 1, "expected": 2}])
    weave.publish(dataset)
    weave.publish(Doubling(name="doubling", factor=2))
    weave.publish(
        weave.Evaluation(name="published_evaluation", dataset=dataset, scorers=[exact])
    )
    client.flush()
    found = server.evaluation_read(
        {**project, "object_id": "published_evaluation", "digest": "latest"}
    )
    return {
        "datasets": sorted(item.name for item in server.dataset_list(project)),
        "rows": server.dataset_read(
            {**project, "object_id": "published", "digest": "latest"}
        ).rows.split("/")[-2],
        "models": {
            item.object_id: item.attributes for item in server.model_list(project)
        }["doubling"]["factor"],
        "scorers": [ref.split("/")[-1].split(":")[0] for ref in found.scorers],
        "source": "return output == expected"
        in server.op_read({**project, "object_id": "exact", "digest": "latest"}).code,
        "ops": {item.object_id for item in server.op_list(project)}
        >= {"add", "exact", "match_score"},
        "deleted": server.dataset_delete(
            {**project, "object_id": "published"}
        ).num_deleted,
        "left": [item.name for item in server.dataset_list(project)],
    }


def main() -> None:
    client = weave.init("typed/objects")
    project = {"project_id": "typed/objects"}
    print(
        json.dumps(
            {
                "by_class": made_by_class(client, project),
                "by_publishing": made_by_publishing(client, project),
            }
        )
    )


main()
