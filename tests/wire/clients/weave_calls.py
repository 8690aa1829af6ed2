"""Calls in every way in which weave makes and finds them. Prints what it read back."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import weave
from weave.trace.weave_client import WeaveClient


@weave.op
def add(a: int, b: int) -> int:
    return a + b


@weave.op(call_display_name="twice by its op")
def twice(x: int) -> int:
    return add(x, x)


@weave.op
async def slowly(x: int) -> int:
    await asyncio.sleep(0)
    return add(x, 1)


@weave.op(accumulator=lambda seen, item: [*(seen or []), item])
def counting(n: int) -> Iterator[int]:
    yield from range(n)


@weave.op(accumulator=lambda seen, item: [*(seen or []), item])
async def counting_slowly(n: int) -> AsyncIterator[int]:
    for i in range(n):
        yield i


@weave.op
def fails(reason: str) -> None:
    raise ValueError(reason)


@weave.op
def fails_inside() -> str:
    try:
        fails("inside")
    except ValueError:
        return "caught"
    return "not reached"


class Box(weave.Object):
    size: int


@weave.op
def measure(box: Box, note: str) -> int:
    weave.set_view("report", f"# {note}", extension="md")
    return box.size


def path(name: str) -> dict[str, str]:
    return {"$getField": name}


def ways_to_call(client: WeaveClient) -> dict[str, Any]:
    result, call = twice.call(21)
    asyncio.run(slowly(1))
    streamed = list(counting(4))

    async def drain() -> list[int]:
        return [item async for item in counting_slowly(3)]

    streamed_slowly = asyncio.run(drain())
    try:
        fails("on purpose")
    except ValueError:
        pass
    fails_inside()
    logged = weave.log_call("logged by hand", {"q": "x"}, {"answer": 1})
    made = client.create_call("made by hand", {"q": "y"}, display_name="by hand")
    client.finish_call(made, output="done")
    failed = client.create_call("failed by hand", {})
    client.fail_call(failed, RuntimeError("by hand"))
    client.flush()

    def outputs(name: str) -> list[Any]:
        op_names = [f"weave:///{client.entity}/{client.project}/op/{name}:*"]
        return [
            found.output for found in client.get_calls(filter={"op_names": op_names})
        ]

    read = client.get_call(call.id)
    return {
        "result": [result, read.output, read.display_name],
        "children": [[child.inputs["a"], child.output] for child in read.children()],
        "slowly": outputs("slowly"),
        "streams": [
            streamed,
            outputs("counting"),
            streamed_slowly,
            outputs("counting_slowly"),
        ],
        "statuses": [
            client.get_call(call_id).summary["weave"]["status"]
            for call_id in (call.id, failed.id)
        ],
        "caught": [
            found.summary["weave"]["status"]
            for found in client.get_calls(
                query={"$expr": {"$eq": [path("output"), {"$literal": "caught"}]}}
            )
        ],
        "by_hand": [
            client.get_call(logged.id).output["answer"],
            client.get_call(made.id).output,
            client.get_call(made.id).display_name,
            json.loads(client.get_call(failed.id).exception)["message"],
        ],
    }


def contexts(client: WeaveClient) -> dict[str, Any]:
    with weave.attributes({"env": "test", "deep": {"er": [1, 2.5]}}):
        with weave.thread("talk-1"):
            add(1, 2)
            twice(3)
        _, call = add.call(5, 6)
    with weave.thread() as generated:
        add(7, 8)
    client.flush()
    threads = client.get_calls(filter={"thread_ids": ["talk-1"]})
    read = client.get_call(call.id)
    return {
        "attributes": json.loads(json.dumps(dict(read.attributes["deep"]))),
        "env": read.attributes["env"],
        "thread_calls": len(list(threads)),
        "turns": len({found.turn_id for found in threads}),
        "generated": len(
            list(client.get_calls(filter={"thread_ids": [str(generated.thread_id)]}))
        ),
    }


def many(client: WeaveClient) -> dict[str, Any]:
    with weave.attributes({"set": "many"}):
        for i in range(120):
            add(i, i % 5)
    client.flush()
    of_set: dict[str, Any] = {"$eq": [path("attributes.set"), {"$literal": "many"}]}
    large = {
        "$gt": [
            {"$convert": {"input": path("inputs.a"), "to": "double"}},
            {"$literal": 100},
        ]
    }
    by_size = [{"field": "inputs.a", "direction": "desc"}]
    every = client.get_calls(query={"$expr": of_set}, sort_by=by_size, page_size=50)
    page = client.get_calls(
        query={"$expr": of_set}, sort_by=by_size, limit=3, offset=10
    )
    narrow = list(
        client.get_calls(query={"$expr": of_set}, columns=["inputs.a"], limit=5)
    )
    both = {"$expr": {"$and": [of_set, large]}}
    sized = next(iter(client.get_calls(limit=1, include_storage_size=True)))
    return {
        "every": [found.inputs["a"] for found in every] == list(range(119, -1, -1)),
        "length": len(every),
        "page": [found.inputs["a"] for found in page],
        "page_length": len(page),
        "slice": [found.inputs["a"] for found in every[2:4]],
        "large": len(client.get_calls(query=both)),
        "narrow": [sorted(dict(found.inputs)) for found in narrow],
        "narrow_output": [found.output for found in narrow],
        "in": len(
            client.get_calls(
                query={
                    "$expr": {
                        "$and": [
                            of_set,
                            {
                                "$in": [
                                    path("inputs.b"),
                                    [{"$literal": 1}, {"$literal": 3}],
                                ]
                            },
                        ]
                    }
                }
            )
        ),
        "contains": len(
            client.get_calls(
                query={
                    "$expr": {
                        "$contains": {
                            "input": path("exception"),
                            "substr": {"$literal": "ON PURPOSE"},
                            "case_insensitive": True,
                        }
                    }
                }
            )
        ),
        "storage": (sized.storage_size_bytes or 0) > 0,
    }


def refs(client: WeaveClient) -> dict[str, Any]:
    for size in (3, 30):
        box = Box(name=f"box-{size}", size=size)
        weave.publish(box)
        measure(box, note=f"a box of {size}")
    client.flush()
    thirty = {"$expr": {"$eq": [path("inputs.box.size"), {"$literal": 30}]}}
    found = list(client.get_calls(query=thirty, expand_columns=["inputs.box"]))
    measured = client.get_call(found[0].id)
    by_ref = client.get_calls(filter={"input_refs": [measured.inputs["box"].ref.uri()]})
    _, seen_from_outside = measure.call(Box(size=1), note="a view")
    client.flush()
    views = client.get_call(seen_from_outside.id).summary["weave"].get("views", {})
    return {
        "found": [[call.inputs["box"].size, call.output] for call in found],
        "by_ref": [call.output for call in by_ref],
        "views": sorted(dict(views)),
    }


def changes(client: WeaveClient) -> dict[str, Any]:
    _, renamed = add.call(1, 1)
    _, parent = twice.call(9)
    doomed = [add.call(i, i)[1] for i in range(3)]
    client.flush()
    renamed.set_display_name("another name")
    client.flush()
    named = client.get_call(renamed.id).display_name
    renamed.remove_display_name()
    client.flush()
    before = len(client.get_calls())
    doomed[0].delete()
    client.delete_calls([call.id for call in doomed[1:]])
    parent.delete()
    client.flush()
    try:
        client.get_call(doomed[0].id)
        gone = False
    except ValueError:
        gone = True
    return {
        "renamed": [named, client.get_call(renamed.id).display_name],
        "deleted": before - len(client.get_calls()),
        "gone": gone,
    }


def main() -> None:
    client = weave.init("whole/calls")
    seen = {
        "ways": ways_to_call(client),
        "contexts": contexts(client),
        "many": many(client),
        "refs": refs(client),
        "changes": changes(client),
    }
    weave.finish()
    print(json.dumps(seen))


main()
