"""The reinforcement-learning tasks of `learn`: the demo's two, of one turn each, and one with tools and two turns."""

import asyncio
import json
import random
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import art

from heddle import Heddle
from tasks import TASKS, Scenario, Task

Json = dict[str, Any]


@dataclass(frozen=True)
class Pace:
    """How many jobs a model is trained by, and how far each of their gradient steps goes."""

    steps: int
    learning_rate: float


class Episodes(Protocol):
    """Draws scenarios and plays them with a model; rewards lie in [0, 1]."""

    name: str
    prompts_per_step: int
    pace: Pace
    pace_after_primer: Pace

    def draw(self, rng: random.Random, count: int) -> list[Any]: ...

    def demonstrate(self, scenario: Any) -> Json:
        """A line of supervised training data in which the scenario is done right."""
        ...

    async def play(self, heddle: Heddle, model: str, scenario: Any) -> art.Trajectory: ...


class OneTurn:
    """A task of the demo."""

    answer_tokens = 24

    def __init__(self, task: Task, steps: int, prompts_per_step: int) -> None:
        self.task = task
        self.name = task.name
        self.pace = self.pace_after_primer = Pace(steps, 2e-3)
        self.prompts_per_step = prompts_per_step

    def draw(self, rng: random.Random, count: int) -> list[Scenario]:
        return self.task.draw(rng, count)

    def demonstrate(self, scenario: Scenario) -> Json:
        answer = {"role": "assistant", "content": self.task.best(scenario)}
        return {"messages": [{"role": "user", "content": scenario.question}, answer]}

    async def play(self, heddle: Heddle, model: str, scenario: Scenario) -> art.Trajectory:
        question: art.Messages = [{"role": "user", "content": scenario.question}]
        choice = await heddle.chat(model, question, self.answer_tokens)
        reward = self.task.reward(scenario, choice.message.content or "")
        return art.Trajectory(messages_and_choices=[*question, choice], reward=reward)


@dataclass(frozen=True)
class Lookup:
    """A question that only a tool can answer: the call it needs, and what the tool says."""

    question: str
    tool: str
    arguments: dict[str, str]
    result: str


class Phone:
    """Two tools are offered and one fits: the model calls it, is given the result and answers.

    0.2 for the right call alone, 1 when the answer after it is the result and nothing else. The model makes the call
    nearly always, but wraps about half of its answers in a sentence.
    """

    name = "phone"
    prompts_per_step = 8
    # A job here is six gradient steps, while one of a single turn is two.
    pace = Pace(steps=8, learning_rate=1e-3)
    # What the primer taught of calls and of copying results is new to the model: one job at 1e-3 undoes it, whether
    # its gradient steps are many or few (docs/decisions/0018).
    pace_after_primer = Pace(steps=48, learning_rate=1e-4)
    call_tokens = 40
    answer_tokens = 24
    people = ("Anna", "Ben", "Emma", "Felix", "Henry", "Iris", "Leo", "Maria", "Noah", "Paul", "Rosa", "Sam", "Zoe")
    cities = ("Paris", "Berlin", "Rome", "Madrid", "London", "Oslo", "Vienna", "Lisbon", "Dublin", "Prague")
    tools: ClassVar[list[Any]] = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]},
            },
        }
        for name, description, key in (
            ("find_number", "Find a phone number.", "person"),
            ("get_time", "The time in a city.", "city"),
        )
    ]

    def draw(self, rng: random.Random, count: int) -> list[Lookup]:
        return [self.draw_number(rng) if rng.random() < 0.5 else self.draw_time(rng) for _ in range(count)]

    def draw_number(self, rng: random.Random) -> Lookup:
        person = rng.choice(self.people)
        question = f"What is the phone number of {person}?"
        return Lookup(question, "find_number", {"person": person}, str(rng.randint(1000, 9999)))

    def draw_time(self, rng: random.Random) -> Lookup:
        city = rng.choice(self.cities)
        result = f"{rng.randrange(24)}:{rng.randrange(60):02d}"
        return Lookup(f"What time is it in {city}?", "get_time", {"city": city}, result)

    def demonstrate(self, scenario: Lookup) -> Json:
        function = {"name": scenario.tool, "arguments": json.dumps(scenario.arguments)}
        call = {"id": "call_1", "type": "function", "function": function}
        messages: list[Json] = [
            {"role": "user", "content": scenario.question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": scenario.result},
            {"role": "assistant", "content": scenario.result},
        ]
        return {"messages": messages, "tools": self.tools}

    async def play(self, heddle: Heddle, model: str, scenario: Lookup) -> art.Trajectory:
        messages: art.Messages = [{"role": "user", "content": scenario.question}]
        first = await heddle.chat(model, messages, self.call_tokens, self.tools)
        trajectory = art.Trajectory(messages_and_choices=[*messages, first], tools=self.tools)
        calls = first.message.tool_calls or []
        if len(calls) != 1 or first.message.content or not is_right(calls[0], scenario):
            return trajectory
        result: Any = {"role": "tool", "tool_call_id": calls[0].id, "content": scenario.result}
        trajectory.messages_and_choices.append(result)
        second = await heddle.chat(model, trajectory.messages(), self.answer_tokens, self.tools)
        trajectory.messages_and_choices.append(second)
        trajectory.reward = 1.0 if second.message.content == scenario.result else 0.2
        return trajectory


def is_right(call: Any, scenario: Lookup) -> bool:
    try:
        return call.function.name == scenario.tool and json.loads(call.function.arguments) == scenario.arguments
    except json.JSONDecodeError:
        return False


async def play_groups(
    heddle: Heddle, episodes: Episodes, model: str, scenarios: list[Any], rollouts: int
) -> list[art.TrajectoryGroup]:
    async def group(scenario: Any) -> art.TrajectoryGroup:
        plays = (episodes.play(heddle, model, scenario) for _ in range(rollouts))
        return art.TrajectoryGroup(await asyncio.gather(*plays))

    return await asyncio.gather(*(group(scenario) for scenario in scenarios))


EPISODES: dict[str, Episodes] = {
    episodes.name: episodes
    for episodes in (OneTurn(TASKS["sums"], 15, 16), OneTurn(TASKS["preference"], 20, 16), Phone())
}
