"""Two models, evaluated by weave: `large` is right in 42 of 50 rows and raises in 4, `small` is right in 40; prints the ids."""

import asyncio
import json
import os

import weave

ROWS = 50


class Adder(weave.Model):
    wrong: list[int]
    raises: list[int]

    @weave.op
    def predict(self, number: int) -> str:
        if number in self.raises:
            raise ValueError(f"{number} does not fit")
        return str(number + (2 if number in self.wrong else 1))


@weave.op
def exact(output: str, expected: str) -> dict[str, bool]:
    return {"correct": output == expected}


@weave.op
def verbose(output: str) -> int:
    return len(output)


client = weave.init(os.environ["PROJECT"])
rows = [{"number": n, "expected": str(n + 1)} for n in range(ROWS)]
evaluation = weave.Evaluation(
    name="adding",
    dataset=weave.Dataset(name="numbers", rows=rows),
    scorers=[exact, verbose],
)
models = {
    "small": {"wrong": list(range(10)), "raises": []},
    "large": {"wrong": [0, 1, 2, 20], "raises": [3, 4, 48, 49]},
}
ids = {}
for name, faults in models.items():
    _, call = asyncio.run(
        evaluation.evaluate.call(
            evaluation,
            Adder(name=f"adder-{name}", **faults),
            __weave={"display_name": f"adding, {name}"},
        )
    )
    ids[name] = call.id
client.flush()
print(json.dumps(ids))
