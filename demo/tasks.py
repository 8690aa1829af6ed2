"""Two tasks whose rewards anyone can check by reading a few lines."""

import json
import random
from dataclasses import dataclass
from typing import ClassVar, Protocol


@dataclass(frozen=True)
class Scenario:
    """One question and what is needed to score an answer to it."""

    question: str
    right: int | None = None


class Task(Protocol):
    """Draws questions and scores answers; rewards lie in [0, 1]."""

    name: str
    goal: str

    def draw(self, rng: random.Random, count: int) -> list[Scenario]: ...

    def reward(self, scenario: Scenario, answer: str) -> float: ...

    def best(self, scenario: Scenario) -> str:
        """An answer of reward 1."""
        ...


class Sums:
    """1 when the whole answer is JSON equal to {"answer": right sum}, else 0."""

    name = "sums"
    goal = 'answer sums below 100 as {"answer": n}, and nothing else'

    def draw(self, rng: random.Random, count: int) -> list[Scenario]:
        pairs = [(rng.randrange(50), rng.randrange(50)) for _ in range(count)]
        return [Scenario(f"What is {x} + {y}?", x + y) for x, y in pairs]

    def reward(self, scenario: Scenario, answer: str) -> float:
        try:
            return 1.0 if json.loads(answer) == {"answer": scenario.right} else 0.0
        except json.JSONDecodeError:
            return 0.0

    def best(self, scenario: Scenario) -> str:
        return json.dumps({"answer": scenario.right})


class Preference:
    """1 for maybe, .75 for no, .5 for yes: a taste rather than a skill."""

    name = "preference"
    goal = 'prefer "maybe" over "no" over "yes"'
    rewards: ClassVar = {"maybe": 1.0, "no": 0.75, "yes": 0.5}

    def draw(self, rng: random.Random, count: int) -> list[Scenario]:
        words = [rng.sample(["yes", "no", "maybe"], 3) for _ in range(count)]
        return [Scenario(f"respond with {a}, {b} or {c}") for a, b, c in words]

    def reward(self, scenario: Scenario, answer: str) -> float:
        return self.rewards.get(answer.strip().lower().rstrip("."), 0.0)

    def best(self, scenario: Scenario) -> str:
        return "maybe"


TASKS: dict[str, Task] = {task.name: task for task in (Sums(), Preference())}
