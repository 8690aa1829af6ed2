"""Objects of every kind of weave: versions, tags, aliases, prompts, views, leaderboards, monitors. Prints them read back."""

import asyncio
import json
from typing import Any

import weave
from waiting import wait_for
from weave.flow.leaderboard import (
    Leaderboard,
    LeaderboardColumn,
    get_leaderboard_results,
)
from weave.trace.refs import ObjectRef
from weave.trace.weave_client import WeaveClient


class Settings(weave.Object):
    depth: int
    nested: dict[str, Any]


class Doubling(weave.Model):
    factor: int

    @weave.op
    def predict(self, x: int) -> int:
        return self.factor * x


class Positive(weave.Scorer):
    limit: int = 0

    @weave.op
    def score(self, *, output: int) -> dict[str, bool]:
        return {"positive": output > self.limit}


def versions(client: WeaveClient) -> dict[str, Any]:
    refs = [weave.publish({"n": n}, name="settings") for n in range(4)]
    weave.publish(Settings(name="typed", depth=2, nested={"a": [1, 2.5, None]}))
    typed = weave.ref("typed").get()
    client.delete_object_version(refs[3])
    client.flush()
    latest = weave.ref("settings:latest").get()["n"]
    several = client.delete_object_versions(
        "settings", [refs[1].digest, refs[2].digest]
    )
    try:
        refs[1].get()
        deleted = False
    except ValueError as error:
        deleted = str(error)
    return {
        "latest": latest,
        "several": several,
        "deleted": deleted,
        "rest": client.delete_all_object_versions("settings"),
        "typed": [typed.depth, json.loads(json.dumps(typed.nested))],
        "by_path": [weave.get(f"{weave.ref('typed').uri()}/attr/depth")],
    }


def labels(client: WeaveClient) -> dict[str, Any]:
    first = weave.publish("one", name="labelled", tags=["draft"], aliases=["staging"])
    second = weave.publish("two", name="labelled")
    weave.add_tags(second, ["reviewed", "good one"])
    weave.remove_tags(second, ["good one"])
    weave.set_aliases(second, ["production", "staging"])
    by_alias = weave.ref("labelled:staging").get()
    listed = {
        "tags": [weave.get_tags(first), weave.get_tags(second)],
        "aliases": [weave.get_aliases(first), sorted(weave.get_aliases(second))],
        "both": weave.get_tags_and_aliases(second)[0],
        "project": [weave.list_tags(), weave.list_aliases()],
        "by_alias": by_alias,
    }
    weave.remove_aliases(second, "production")
    return listed | {"left": sorted(client.get_aliases(second))}


def prompts() -> dict[str, Any]:
    weave.publish(weave.StringPrompt("Hello, {name}!"), name="greeting")
    chat = [
        {"role": "system", "content": "You speak {language}."},
        {"role": "user", "content": "Hi"},
    ]
    weave.publish(weave.MessagesPrompt(chat), name="chat")
    easy = weave.EasyPrompt("Count to {n}", role="user", name="easy")
    easy.append("Slowly.", role="system")
    easy.publish()
    return {
        "string": weave.ref("greeting").get().format(name="Ada"),
        "messages": weave.ref("chat").get().format(language="Frisian"),
        "easy": weave.ref("easy").get().bind(n=3)(),
    }


def views(client: WeaveClient) -> dict[str, Any]:
    add = weave.op(lambda a, b: a + b, name="add")
    for a in range(6):
        add(a, 1)
    client.flush()
    view = weave.SavedView("traces", "large sums")
    view.sort_by("started_at", "desc").add_columns("inputs.a", "output")
    view.add_column("summary.weave.status", "Outcome")
    view.pin_column_left("inputs.a").page_size(50).filter_op("add").save()
    assert view.ref is not None
    loaded = weave.SavedView.load(view.ref.uri())
    # Wire: weave 0.54.0 refuses to load a view whose query it saved itself, so this one is used without loading it.
    view.add_filter("inputs.a", ">=", 4).save()
    grid = view.to_grid()
    return {
        "loaded": [loaded.label, loaded.view_type, len(loaded.get_calls())],
        "found": [[call.inputs["a"], call.output] for call in view.get_calls()],
        "rows": [[str(cell) for cell in row] for row in grid.rows],
    }


def monitors(client: WeaveClient) -> dict[str, Any]:
    monitor = weave.Monitor(
        name="watch",
        sampling_rate=0.5,
        op_names=["add"],
        scorers=[Positive(name="positive", limit=1)],
        query={
            "$expr": {"$gt": [{"$getField": "started_at"}, {"$literal": 1742540400}]}
        },
    )
    on = monitor.activate().get()
    off = monitor.deactivate().get()
    return {
        "active": [on.active, off.active],
        "ops": list(on.op_names),
        "query": on.query.model_dump(by_alias=True),
        "scorers": [[scorer.name, scorer.limit] for scorer in on.scorers],
        "versions": client.delete_all_object_versions("watch"),
    }


def ended_evaluations(client: WeaveClient) -> int:
    runs = client.get_calls(filter={"trace_roots_only": True})
    ended = [run for run in runs if "Evaluation.evaluate" in run.op_name]
    return sum(run.ended_at is not None for run in ended)


def leaderboard(client: WeaveClient) -> dict[str, Any]:
    evaluation = weave.Evaluation(
        name="signs", dataset=[{"x": 1}, {"x": -1}, {"x": 2}], scorers=[Positive()]
    )
    published = weave.publish(evaluation)
    for name, factor in (("doubling", 2), ("negating", -2)):
        asyncio.run(evaluation.evaluate(Doubling(name=name, factor=factor)))
    wait_for(client, lambda: ended_evaluations(client) >= 2)
    column = LeaderboardColumn(
        evaluation_object_ref=published.uri(),
        scorer_name="Positive",
        summary_metric_path="positive.true_count",
    )
    ref = weave.publish(Leaderboard(name="signs-board", columns=[column]))
    board = ref.get()
    results = get_leaderboard_results(board, client)
    return {
        "columns": [
            [shown.scorer_name, shown.summary_metric_path] for shown in board.columns
        ],
        "values": sorted(
            score.value
            for result in results
            for scores in result.column_scores
            for score in scores.scores
        ),
        "models": sorted(
            str(ObjectRef.parse_uri(result.model_ref).name) for result in results
        ),
        "evaluations": [found.name for found in client.get_evaluations()],
    }


def main() -> None:
    client = weave.init("whole/objects")
    seen = {
        "versions": versions(client),
        "labels": labels(client),
        "prompts": prompts(),
        "views": views(client),
        "monitors": monitors(client),
        "leaderboard": leaderboard(client),
    }
    weave.finish()
    print(json.dumps(seen))


main()
