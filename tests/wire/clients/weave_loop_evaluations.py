"""One evaluation by weave.Evaluation, and one by its EvaluationLogger. Prints the ids of both."""

import asyncio
import json
import os
import sys

import weave

ROWS = [{"question": "one", "wanted": "ONE"}, {"question": "two", "wanted": "2"}]


class Shouting(weave.Model):
    @weave.op
    def predict(self, question: str) -> str:
        return question.upper()


@weave.op
def exact(output: str, wanted: str) -> dict[str, bool]:
    return {"match": output == wanted}


def main(project: str) -> dict[str, str | None]:
    client = weave.init(project)
    evaluation = weave.Evaluation(
        dataset=weave.Dataset(name="words", rows=ROWS), scorers=[exact]
    )
    _, call = asyncio.run(evaluation.evaluate.call(evaluation, Shouting()))
    logger = weave.EvaluationLogger(model="shouting", dataset="words")
    for row in ROWS:
        prediction = logger.log_prediction(row, output=row["question"].upper())
        prediction.log_score(
            "exact", {"match": row["question"].upper() == row["wanted"]}
        )
        prediction.finish()
    logger.log_summary({})
    client.flush()
    return {"evaluation": call.id, "logged": logger._evaluate_call.id}


if __name__ == "__main__":
    base_url, api_key, project = sys.argv[1:]
    os.environ.update(WANDB_BASE_URL=base_url, WANDB_API_KEY=api_key)
    print(json.dumps(main(project)))
