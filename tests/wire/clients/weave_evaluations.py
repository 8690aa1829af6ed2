"""Evaluations of five hundred rows, run by weave and logged by hand. Prints their summaries and what was stored."""

import asyncio
import json
import os
from typing import Any

import weave
from waiting import wait_for
from weave.trace.weave_client import WeaveClient

ROWS = 500


class Tripling(weave.Model):
    offset: int

    @weave.op
    async def predict(self, n: int) -> dict[str, int]:
        if n == 13:
            raise ValueError("unlucky")
        return {"value": 3 * n + self.offset}


@weave.op
def even(output: dict[str, int] | None) -> bool:
    return output is not None and output["value"] % 2 == 0


class Distance(weave.Scorer):
    @weave.op
    def score(self, *, output: dict[str, int] | None, wanted: int) -> dict[str, Any]:
        apart = abs(output["value"] - wanted) if output else 1000
        return {"apart": apart, "exact": apart == 0}


def of(client: WeaveClient, name: str, **fields: Any) -> list[Any]:
    op_names = [f"weave:///{client.entity}/{client.project}/op/{name}:*"]
    return list(client.get_calls(filter={"op_names": op_names, **fields}))


def evaluated(client: WeaveClient) -> dict[str, Any]:
    rows = [{"n": n, "wanted": 3 * n} for n in range(ROWS)]
    dataset = weave.Dataset(name="numbers", rows=rows)
    evaluation = weave.Evaluation(
        name="triples", dataset=dataset, scorers=[even, Distance()]
    )
    summary = asyncio.run(evaluation.evaluate(Tripling(name="tripling", offset=0)))
    wait_for(
        client,
        lambda: (
            sum(call.ended_at is not None for call in client.get_calls())
            == 4 * ROWS + 1
        ),
    )
    [run] = of(client, "Evaluation.evaluate")
    children = of(client, "Evaluation.predict_and_score", parent_ids=[run.id])
    predictions = of(client, "Tripling.predict", trace_ids=[run.trace_id])
    with_feedback = client.get_calls(
        filter={"call_ids": [predictions[0].id]}, include_feedback=True
    )
    shown = next(iter(with_feedback)).summary["weave"]["feedback"]
    del summary["model_latency"]
    kept = json.loads(json.dumps(run.output))
    del kept["model_latency"]
    return {
        "summary": summary,
        "kept": kept == json.loads(json.dumps(summary)),
        "status": run.summary["weave"]["status"],
        "children": len(children),
        "predictions": [
            len(predictions),
            sum(1 for call in predictions if call.exception),
        ],
        "rows": sorted(call.inputs["example"]["n"] for call in children)
        == list(range(ROWS)),
        "feedback": sorted(item["feedback_type"] for item in shown),
        "total": len(client.get_calls(filter={"trace_ids": [run.trace_id]})),
        "evaluations": [found.name for found in client.get_evaluations()],
    }


def run_of(client: WeaveClient, logger: weave.EvaluationLogger) -> Any:
    """Of what was logged by hand, once it is stored."""

    def found() -> list[Any]:
        return list(client.get_calls(filter={"call_ids": [logger._evaluate_call.id]}))

    wait_for(client, lambda: any(run.ended_at is not None for run in found()))
    return found()[0]


def logged(client: WeaveClient) -> dict[str, Any]:
    logger = weave.EvaluationLogger(
        name="by hand",
        model={"name": "handmade", "size": 3},
        dataset="digits",
        scorers=["right", "close"],
    )
    for n in range(ROWS):
        prediction = logger.log_prediction({"n": n}, output=n % 10)
        prediction.log_score("right", n % 10 == 7)
        prediction.log_score("close", {"distance": abs(n % 10 - 7)})
        prediction.finish()
    with logger.log_prediction({"n": -1}) as prediction:
        even({"value": 4})
        prediction.output = "inside"
        prediction.log_score("right", False)
    logger.set_view("report", "# By hand", extension="md")
    logger.log_summary({"note": "done"})
    run = run_of(client, logger)
    children = of(client, "Evaluation.predict_and_score", parent_ids=[run.id])
    inside = next(call for call in children if call.output["output"] == "inside")
    return {
        "name": run.display_name,
        "summary": json.loads(json.dumps(run.output)),
        "status": run.summary["weave"]["status"],
        "views": sorted(dict(run.summary["weave"].get("views", {}))),
        "children": len(children),
        "scores": json.loads(json.dumps(children[17].output["scores"])),
        "grandchildren": len(list(inside.children())),
        "model": [run.inputs["model"].name, run.inputs["model"].size],
    }


def failed(client: WeaveClient) -> dict[str, Any]:
    logger = weave.EvaluationLogger(name="fails")
    logger.log_prediction({"n": 1}, output=1).finish()
    logger.fail(RuntimeError("stopped"))
    run = run_of(client, logger)
    return {
        "status": run.summary["weave"]["status"],
        "why": json.loads(run.exception)["message"],
    }


def main() -> None:
    client = weave.init(os.environ["PROJECT"])
    seen = {
        "evaluated": evaluated(client),
        "logged": logged(client),
        "failed": failed(client),
    }
    weave.finish()
    print(json.dumps(seen))


main()
