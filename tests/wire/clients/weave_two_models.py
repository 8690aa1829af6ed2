"""A better and a worse model, evaluated by weave on the same dataset; prints the ids of both evaluations."""

import asyncio
import json
import os

import weave

ROWS = 60
CAPITALS = ["Paris", "Rome", "Madrid", "Berlin", "Vienna", "Warsaw"]


class Guesser(weave.Model):
    skill: int

    @weave.op
    def predict(self, question: str) -> str:
        number = int(question.split()[-1])
        right = CAPITALS[number % len(CAPITALS)]
        return (
            f"It is {right}."
            if number % 10 < self.skill
            else f"Perhaps {right.lower()[::-1]}, I am not sure."
        )


@weave.op
def names_it(output: str, expected: str) -> dict[str, bool]:
    return {"right": expected in output, "sure": "not sure" not in output}


@weave.op
def length(output: str) -> int:
    return len(output)


client = weave.init(os.environ["PROJECT"])
rows = [
    {"question": f"What is capital number {n}", "expected": CAPITALS[n % len(CAPITALS)]}
    for n in range(ROWS)
]
evaluation = weave.Evaluation(
    name="which-capital",
    dataset=weave.Dataset(name="capitals", rows=rows),
    scorers=[names_it, length],
)
ids = {}
for name, skill in (("base", 5), ("tuned", 9)):
    model = Guesser(name=f"guesser-{name}", skill=skill)
    _, call = asyncio.run(
        evaluation.evaluate.call(
            evaluation, model, __weave={"display_name": f"capitals, {name}"}
        )
    )
    ids[name] = call.id
client.flush()
print(json.dumps(ids))
