"""Common uses of weave: ops, threads, objects, datasets, an evaluation, feedback, queries. Prints the results."""

import asyncio
import json

import weave
from weave.trace.weave_client import WeaveClient


@weave.op
def add(a: int, b: int) -> int:
    return a + b


@weave.op
def outer(x: int) -> dict[str, int]:
    return {"v": add(x, 1), "u": add(x, 2)}


@weave.op
def fails() -> None:
    raise ValueError("on purpose")


@weave.op
def model(q: str) -> dict[str, int]:
    return {"length": len(q)}


@weave.op
def right(n: int, output: dict[str, int]) -> dict[str, bool]:
    return {"right": output["length"] == n}


def calls(client: WeaveClient) -> dict[str, object]:
    _, call = outer.call(3)
    try:
        fails()
    except ValueError:
        pass
    with weave.thread("thread-1"):
        add(10, 20)
    with weave.attributes({"env": "test"}):
        add(1.0, 12345678901234567890)  # pyright: ignore[reportArgumentType]
    client.flush()
    every = list(client.get_calls())
    roots = list(client.get_calls(filter={"trace_roots_only": True}))
    expression = {
        "$expr": {"$eq": [{"$getField": "attributes.env"}, {"$literal": "test"}]}
    }
    marked = list(client.get_calls(query=expression))
    errors = [shown.exception for shown in every if shown.exception]
    newest = list(
        client.get_calls(
            sort_by=[{"field": "started_at", "direction": "desc"}], limit=2
        )
    )
    read = client.get_call(call.id)
    read.set_display_name("renamed")
    client.flush()
    return {
        "calls": len(every),
        "length": len(client.get_calls()),
        "roots": len(roots),
        "marked_inputs": [dict(shown.inputs) for shown in marked],
        "errors": len(errors),
        "threads": sorted({shown.thread_id for shown in every if shown.thread_id}),
        "children": sorted(shown.inputs["b"] for shown in read.children()),
        "newest_first": newest[0].started_at >= newest[1].started_at,
        "output": dict(read.output),
        "display_name": client.get_call(call.id).display_name,
    }


def objects() -> dict[str, object]:
    rows = [{"q": "a", "n": 1}, {"q": "bb", "n": 2}, {"q": "ccc", "n": 4}]
    dataset = weave.Dataset(name="questions", rows=rows)
    ref = weave.publish(dataset)
    read = weave.ref(ref.uri()).get()
    first = weave.publish({"nested": {"x": [1, 2.5, None]}}, name="settings")
    second = weave.publish({"nested": {"x": [1, 2.5, "changed"]}}, name="settings")
    again = weave.publish({"nested": {"x": [1, 2.5, None]}}, name="settings")
    return {
        "rows": [dict(row) for row in read.rows],
        "settings": json.loads(json.dumps(weave.ref("settings:v0").get())),
        "versions_differ": first.uri() != second.uri(),
        "same_again": first.uri() == again.uri(),
        "latest": weave.ref("settings:latest").get()["nested"]["x"][2],
        "op_source": "return a + b"
        in str(weave.ref(add.ref.uri()).get().get_captured_code()),  # pyright: ignore
    }


def evaluation(client: WeaveClient) -> dict[str, object]:
    dataset = weave.ref("questions").get()
    summary = asyncio.run(
        weave.Evaluation(dataset=dataset, scorers=[right]).evaluate(model)
    )
    client.flush()
    evaluations = [
        shown for shown in client.get_calls() if "Evaluation.evaluate" in shown.op_name
    ]
    return {
        "summary": summary["right"],
        "statuses": [shown.summary["weave"]["status"] for shown in evaluations],
    }


def feedback(client: WeaveClient) -> dict[str, object]:
    call = next(iter(client.get_calls(limit=1)))
    call.feedback.add_reaction("👍")
    call.feedback.add_note("good")
    call.feedback.add("reward", {"reward": 0.5})
    client.flush()
    found = list(client.get_call(call.id).feedback)
    return {
        "types": [item.feedback_type for item in found],
        "payloads": [item.payload for item in found],
    }


def main() -> None:
    client = weave.init("wire/python")
    seen = {
        "calls": calls(client),
        "objects": objects(),
        "evaluation": evaluation(client),
    }
    seen["feedback"] = feedback(client)
    doomed = next(iter(client.get_calls(filter={"trace_roots_only": True})))
    before = len(client.get_calls())
    client.delete_call(doomed)
    seen["deleted"] = {"gone": before - len(client.get_calls())}
    client.finish()
    print(json.dumps(seen))


main()
