"""A dataset of ten thousand rows: published, read back, selected from, added to. Prints what it read back."""

import json
from typing import Any

import weave
from weave.trace.weave_client import WeaveClient

ROWS = 10_000


def row(n: int) -> dict[str, Any]:
    return {
        "n": n,
        "text": f"row {n} – ü",
        "nested": {"half": n / 2, "list": [n, None, str(n)]},
    }


def large(client: WeaveClient) -> dict[str, Any]:
    rows = [row(n) for n in range(ROWS)]
    ref = weave.publish(weave.Dataset(name="large", rows=rows, description="many rows"))
    client.flush()
    read = weave.ref(ref.uri()).get()
    back = [json.loads(json.dumps(shown)) for shown in read]
    middle = weave.ref(f"{ref.uri()}/attr/rows").get()
    return {
        "length": [len(read), read.num_rows, len(middle)],
        "equal": back == rows,
        "columns": read.columns_names,
        "one": json.loads(json.dumps(read[ROWS - 1])),
        "selected": [shown["n"] for shown in read.select([0, 5000, ROWS - 1])],
    }


def grown() -> dict[str, Any]:
    first = weave.ref("large").get()
    first.add_rows([row(ROWS), row(ROWS + 1)])
    latest = weave.ref("large").get()
    again = latest.add_rows([{"n": -1, "other": "shape"}])
    return {
        "lengths": [
            len(weave.ref("large:v0").get()),
            len(weave.ref("large:v1").get()),
            len(again),
        ],
        "last": [
            shown["n"]
            for shown in weave.ref("large:v2")
            .get()
            .select([ROWS - 1, ROWS, ROWS + 1, ROWS + 2])
        ],
    }


def used(client: WeaveClient) -> dict[str, Any]:
    @weave.op
    def number_of(example: dict[str, Any]) -> int:
        return example["n"]

    chosen = weave.ref("large:v0").get().select([17, 4242])
    for example in chosen:
        number_of(example)
    client.flush()
    chosen_row = {
        "$expr": {"$eq": [{"$getField": "inputs.example.n"}, {"$literal": 4242}]}
    }
    # Wire: a row and what is read out of it are kept as refs into their dataset.
    found = client.get_calls(
        query=chosen_row, expand_columns=["inputs.example", "output"]
    )
    rows = [
        [json.loads(json.dumps(call.inputs["example"]["nested"])), call.output]
        for call in found
    ]
    made = weave.Dataset.from_calls(client.get_calls())
    return {"rows": rows, "from_calls": len(weave.publish(made, "from-calls").get())}


def main() -> None:
    client = weave.init("whole/datasets")
    seen = {"large": large(client), "grown": grown(), "used": used(client)}
    weave.finish()
    print(json.dumps(seen))


main()
