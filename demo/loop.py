"""
The loop: an app is traced, its calls are judged, the good ones train its model, and an evaluation compares before and
after. The app uses weave and openai as they are; judging, collecting and evaluating are requests to the server.
"""

import argparse
import asyncio
import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

os.environ.setdefault("WEAVE_LOG_LEVEL", "WARNING")
os.environ.setdefault("WEAVE_PRINT_CALL_LINK", "false")

import weave
from openai import AsyncOpenAI
from rich import box
from rich.console import Console
from rich.table import Table
from weave.trace.weave_client import WeaveClient

from loop_requests import (
    Comparison,
    Heddle,
    compare,
    evaluate,
    judge,
    publish_evaluation,
    publish_scorers,
    train,
)

PROJECT = "loop"
APP = "answer_sum"
TEMPERATURE = 1.0
ANSWER_TOKENS = 24
ASKED_AT_ONCE = 16
"""Enough to keep the engine's batch full on a small machine."""

console = Console(highlight=False)


@dataclass(frozen=True)
class Settings:
    base_url: str
    api_key: str
    base_model: str
    rounds: int
    questions: int
    samples: int
    held_out: int
    learning_rate: float
    batch_size: int
    seed: int


@dataclass(frozen=True)
class Question:
    text: str
    expected: str


def draw(rng: random.Random, count: int, without: frozenset[Question] = frozenset()) -> list[Question]:
    """Different sums, and how the app wants them answered."""
    found: dict[Question, None] = {}
    while len(found) < count:
        x, y = rng.randrange(50), rng.randrange(50)
        question = Question(f"What is {x} + {y}?", f'{{"answer": {x + y}}}')
        if question not in without:
            found[question] = None
    return list(found)


class App:
    """What is traced: it asks a model for sums, and wants them as JSON."""

    def __init__(self, settings: Settings, model: str) -> None:
        self.client = AsyncOpenAI(base_url=f"{settings.base_url}/v1", api_key=settings.api_key)
        self.gate = asyncio.Semaphore(ASKED_AT_ONCE)
        self.model = model
        self.ask = weave.op(self._ask, name=APP)

    async def _ask(self, question: str, expected: str, step: int) -> str:
        completion = await self.client.chat.completions.create(
            model=f"{self.model}:step{step}",
            messages=[{"role": "user", "content": question}],
            max_tokens=ANSWER_TOKENS,
            temperature=TEMPERATURE,
        )
        return completion.choices[0].message.content or ""

    async def one(self, question: Question, step: int) -> str:
        async with self.gate:
            _, call = await self.ask.call(question.text, question.expected, step)
        return str(call.id)

    async def many(self, questions: list[Question], samples: int, step: int) -> list[str]:
        """Asks each question several times; returns the ids of the calls."""
        return await asyncio.gather(*(self.one(question, step) for question in questions for _ in range(samples)))


def training_config(settings: Settings, rows: int) -> dict[str, object]:
    """Learning rates that fall in a line: a few right answers teach a lot, and many must not overdo it."""
    steps = math.ceil(rows / settings.batch_size)
    rates = [settings.learning_rate * (1 - index / steps) for index in range(steps)]
    return {"learning_rate": rates, "batch_size": settings.batch_size}


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Shows progress on a terminal, and the duration at the end."""
    started = time.monotonic()
    with console.status(what):
        yield
    console.print(f"{what} [dim]{time.monotonic() - started:.0f} s[/dim]")


def show_comparison(found: Comparison, step: int) -> None:
    table = Table(title="Held-out sums, answered as wanted", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("evaluation", "step", "right", "questions", "right here alone"):
        table.add_column(name, justify="left" if name == "evaluation" else "right")
    for name, at, rate, alone in (
        ("before", 0, found.before, found.only_before),
        ("after", step, found.after, found.only_after),
    ):
        table.add_row(name, str(at), f"{rate:.1%} ± {found.error(rate):.1%}", str(found.questions), str(alone))
    console.print(table)


async def run(settings: Settings, client: WeaveClient) -> bool:
    """Runs the whole loop. True when the evaluation after training is better than the one before."""
    heddle = Heddle(settings.base_url, settings.api_key, f"{client.entity}/{client.project}")
    name = f"sums-{time.strftime('%m%d-%H%M%S')}"
    registered = {"entity": client.entity, "project": client.project, "name": name, "base_model": settings.base_model}
    model_id = heddle.post("/v1/preview/models", registered)["id"]
    model = f"wandb-artifact:///{client.entity}/{client.project}/{name}"
    rng = random.Random(settings.seed)
    held_out = draw(rng, settings.held_out)
    scorers = publish_scorers(heddle, settings.base_model)
    evaluation = publish_evaluation(
        heddle, scorers, [{"user_input": question.text, "expected": question.expected} for question in held_out]
    )
    app = App(settings, model)
    sampling = {"temperature": TEMPERATURE, "max_tokens": ANSWER_TOKENS}
    with doing("Evaluating before training"):
        before = evaluate(heddle, evaluation, model, 0, sampling)
    step = 0
    for number in range(1, settings.rounds + 1):
        questions = draw(rng, settings.questions, frozenset(held_out))
        calls = len(questions) * settings.samples
        with doing(f"Round {number}: tracing {calls} calls of the app"):
            call_ids = await app.many(questions, settings.samples, step)
            client.flush()
        with doing(f"Round {number}: judging them on the server"):
            judged = judge(heddle, scorers, call_ids)
        console.print(f"  {judged.right} of {judged.calls} are right by exact match, which chooses", soft_wrap=True)
        console.print(
            f"  {settings.base_model} as a judge says yes to {judged.yes}, and errs on {judged.erring}", soft_wrap=True
        )
        if judged.right == 0:
            continue
        with doing(f"Round {number}: collecting the right ones and training on them"):
            trained = train(heddle, model_id, call_ids, training_config(settings, judged.right))
        step = trained["job"]["checkpoint_step"]
        console.print(f"  step {step} from {trained['rows']} rows: {trained['dataset_ref']}", soft_wrap=True)
    with doing("Evaluating after training"):
        after = evaluate(heddle, evaluation, model, step, sampling)
    found = compare(heddle, before, after)
    show_comparison(found, step)
    runs = quote(json.dumps([before, after], separators=(",", ":")))
    console.print(f"Row by row  {settings.base_url}/{heddle.project_id}/compare?runs={runs}", soft_wrap=True)
    return found.after > found.before


def parse_arguments() -> Settings:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--api-key", default=os.environ.get("WANDB_API_KEY", ""))
    parser.add_argument("--base-model", default="heddle/loom-tiny")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--held-out", type=int, default=100)
    parser.add_argument("--learning-rate", type=float, default=5e-3)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return Settings(**vars(given))


def main() -> int:
    settings = parse_arguments()
    os.environ.update(WANDB_BASE_URL=settings.base_url, WANDB_API_KEY=settings.api_key)
    client = weave.init(PROJECT)
    return 0 if asyncio.run(run(settings, client)) else 1


if __name__ == "__main__":
    sys.exit(main())
