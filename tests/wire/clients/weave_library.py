"""One of every kind of object that weave publishes, and calls that refer to them; prints what their links need."""

import asyncio
import json
import os

import weave
from weave.flow import leaderboard


class Adder(weave.Model):
    by: int

    @weave.op
    def predict(self, a: int) -> int:
        return a + self.by


class Exact(weave.Scorer):
    @weave.op
    def score(self, output: int, expected: int) -> bool:
        return output == expected


class NearEnough(weave.Scorer):
    @weave.op
    def score(self, output: int, expected: int) -> dict[str, int]:
        return {"distance": abs(output - expected)}


@weave.op
def explain(row: dict, model: Adder, note: str) -> str:
    return note


client = weave.init(os.environ["PROJECT"])
weave.publish({"temperature": 0.1}, name="settings")
settings = weave.publish({"temperature": 0.2}, name="settings")
client.add_tags(settings, ["checked"])
prompt = weave.publish(
    weave.StringPrompt("Answer {question} in one word."), name="short"
)
rows = [{"a": n, "expected": n + 2} for n in range(4)]
dataset = weave.publish(weave.Dataset(name="sums", rows=rows))
evaluation = weave.Evaluation(
    name="adds-two", dataset=dataset.get(), scorers=[Exact(), NearEnough()]
)
evaluation_ref = weave.publish(evaluation)
ids = {}
for name, by in (("add-one", 1), ("add-two", 2)):
    _, call = asyncio.run(evaluation.evaluate.call(evaluation, Adder(name=name, by=by)))
    ids[name] = call.id
    if name == "add-two":
        link = call.ui_url
column = leaderboard.LeaderboardColumn
weave.publish(
    leaderboard.Leaderboard(
        name="best-adder",
        description="Who adds two",
        columns=[
            column(
                evaluation_object_ref=evaluation_ref.uri,
                scorer_name="Exact",
                summary_metric_path="true_fraction",
            ),
            column(
                evaluation_object_ref=evaluation_ref.uri,
                scorer_name="NearEnough",
                summary_metric_path="distance.mean",
                should_minimize=True,
            ),
        ],
    )
)
monitor = weave.Monitor(
    name="watcher", op_names=["explain"], scorers=[Exact()], sampling_rate=1
)
monitor.activate()
_, explained = explain.call(dataset.get().rows[2], Adder(name="add-two", by=2), "fine")
client.flush()
print(
    json.dumps(
        {
            "evaluations": ids,
            "link": link,
            "prompt": prompt.uri,
            "settings": settings.uri,
            "explained": explained.id,
            "call_ref": explained.ref.uri,
        }
    )
)
