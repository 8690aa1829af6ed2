"""An evaluation of a model that the server serves: published here, evaluated by the server and by weave itself.

With `publish`, prints the refs of an evaluation and a model; with `evaluate`, what weave's own run of the same evaluation
comes to, and what the run of the server in `CALL_ID` of the evaluation in `EVALUATION` looks like to the client.
"""

import asyncio
import json
import os
import sys
from typing import Any

import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel
from weave.scorers import LLMAsAJudgeScorer, StringMatchScorer, ValidJSONScorer

ROWS = int(os.environ["ROWS"])


@weave.op
def short(output: str, target: str) -> dict[str, Any]:
    if target == "13":
        raise ValueError("unlucky")
    return {"length": len(output), "ok": len(output) < 4, "parts": {"head": output[:1]}}


class Longer(weave.Scorer):
    limit: int

    @weave.op
    def score(self, *, output: str, wanted: str) -> bool:
        return len(output) > self.limit + len(wanted)


def made() -> tuple[weave.Evaluation, LLMStructuredCompletionModel]:
    """The same each time, down to the digests."""
    rows = [
        {"user_input": f"{n} + {n + 1} =", "target": str(2 * n + 1)}
        for n in range(ROWS)
    ]
    served = {"llm_model_id": "heddle/loom-tiny"}
    params = {"temperature": 0, "max_tokens": 4, "response_format": "text"}
    judges_model = LLMStructuredCompletionModel(
        name="judge-model", default_params=params, **served
    )
    judge = LLMAsAJudgeScorer(
        name="judge",
        model=judges_model,
        scoring_prompt="Is {output} right for {user_input}?",
    )
    messages = [
        {"role": "system", "content": "The answer is {target}."},
        {"role": "user", "content": "Is {output} right?"},
    ]
    informed_judge = LLMAsAJudgeScorer(
        name="The informed judge",
        model=judges_model,
        scoring_prompt=weave.MessagesPrompt(messages),
    )
    evaluation = weave.Evaluation(
        name="sums",
        dataset=weave.Dataset(name="sums", rows=rows),
        scorers=[
            ValidJSONScorer(),
            StringMatchScorer(),
            judge,
            informed_judge,
            short,
            Longer(limit=1, column_map={"wanted": "target"}),
        ],
    )
    model = LLMStructuredCompletionModel(name="adder", default_params=params, **served)
    return evaluation, model


def publish() -> dict[str, str]:
    evaluation, model = made()
    refs = {"evaluation_ref": evaluation, "model_ref": model}
    return {name: weave.publish(value).uri for name, value in refs.items()}


def evaluate() -> dict[str, Any]:
    evaluation, model = made()
    summary = asyncio.run(evaluation.evaluate(model))
    return {
        "summary": json.loads(json.dumps(summary)),
        "theirs": shown(os.environ["CALL_ID"]),
    }


def shown(call_id: str) -> dict[str, Any]:
    """An evaluation that the server ran, as the client reads it."""
    client = weave.get_client()
    run = client.get_call(call_id)
    children = list(run.children())
    rows = [
        child for child in children if child.func_name == "Evaluation.predict_and_score"
    ]
    predictions = [next(iter(row.children())) for row in rows[:3]]
    return {
        "name": run.func_name,
        "output": json.loads(json.dumps(run.output)),
        "rows": len(rows),
        "predictions": [prediction.func_name for prediction in predictions],
        "of_the_evaluation": len(
            list(weave.ref(os.environ["EVALUATION"]).get().get_evaluate_calls())
        ),
    }


weave.init("local/evaluated")
result = publish() if sys.argv[1] == "publish" else evaluate()
weave.get_client().flush()
print(json.dumps(result))
