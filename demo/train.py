"""
Trains a small chat model by reinforcement learning through Heddle, with the clients people already have:
openpipe-art registers the model and sends trajectory groups, openai samples the rollouts, weave traces each of them.
Nothing here knows that the server is Heddle: it is given a base URL and a key.
"""

import argparse
import asyncio
import os
import random
import statistics
import sys
import time
import warnings
from dataclasses import dataclass, field

# The clients must not fetch price lists from the internet, nor draw over the table.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("TQDM_DISABLE", "1")
os.environ.setdefault("WEAVE_LOG_LEVEL", "WARNING")
os.environ.setdefault("WANDB_SILENT", "true")
os.environ.setdefault("WEAVE_PRINT_CALL_LINK", "false")

warnings.filterwarnings("ignore", module="pydantic")

import art
import weave
from art.serverless.backend import ServerlessBackend
from openai import AsyncOpenAI
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from tasks import TASKS, Scenario, Task

PROJECT = "demo"
ANSWER_TOKENS = 24
ROLLOUTS_AT_ONCE = 64
"""Enough to keep the engine's batch full on a small machine, few enough to keep connections cheap."""

console = Console()


@dataclass(frozen=True)
class Settings:
    base_url: str
    api_key: str
    task: Task
    base_model: str
    steps: int
    prompts_per_step: int
    rollouts_per_prompt: int
    held_out_prompts: int
    held_out_rollouts: int
    learning_rate: float
    seed: int


@dataclass
class Row:
    """One line of the table; what is not known yet is None."""

    step: int
    seconds: float = 0.0
    train_reward: float | None = None
    held_out_reward: float | None = None
    rollouts_per_second: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)


class Rollouts:
    """Samples answers from one model and traces every one of them as a call, with its reward as feedback."""

    def __init__(self, settings: Settings, model: art.TrainableModel, client: AsyncOpenAI) -> None:
        self.settings = settings
        self.model = model
        self.client = client
        self.gate = asyncio.Semaphore(ROLLOUTS_AT_ONCE)
        # The trace shows the answer; the trajectory around it, with a log-probability a token, is for the trainer.
        self.sample = weave.op(self._sample, name="rollout", postprocess_output=answer_of)

    async def _sample(self, question: str, step: int) -> art.Trajectory:
        messages: art.Messages = [{"role": "user", "content": question}]
        completion = await self.client.chat.completions.create(
            model=self.model.get_inference_name(step),
            messages=messages,
            max_tokens=ANSWER_TOKENS,
            temperature=1.0,
            logprobs=True,
        )
        return art.Trajectory(
            messages_and_choices=[*messages, completion.choices[0]],
            reward=0.0,
            initial_policy_version=step,
            final_policy_version=step,
        )

    async def run(self, scenario: Scenario, step: int, split: str) -> art.Trajectory:
        """One rollout: sampled, scored, and the score left as feedback on its call."""
        async with self.gate:
            with weave.attributes({"split": split, "step": step}):
                trajectory, call = await self.sample.call(scenario.question, step)
        trajectory.reward = self.settings.task.reward(scenario, answer_of(trajectory))
        call.feedback.add("reward", {"reward": trajectory.reward})
        return trajectory

    async def group(self, scenario: Scenario, step: int, split: str, count: int) -> art.TrajectoryGroup:
        return art.TrajectoryGroup(
            await asyncio.gather(*(self.run(scenario, step, split) for _ in range(count))),
            metadata={"question": scenario.question},
        )

    async def groups(self, scenarios: list[Scenario], step: int, split: str, count: int) -> list[art.TrajectoryGroup]:
        return await asyncio.gather(*(self.group(scenario, step, split, count) for scenario in scenarios))


def answer_of(trajectory: art.Trajectory) -> str:
    return str(trajectory.messages()[-1].get("content") or "")


def mean_reward(groups: list[art.TrajectoryGroup]) -> float:
    return statistics.mean(trajectory.reward for group in groups for trajectory in group.trajectories)


def table(rows: list[Row], settings: Settings) -> Table:
    title = f"Teaching {settings.base_model} to {settings.task.goal}"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("step", "train reward", "held-out reward", "loss", "logprob gap", "clipped", "rollouts/s", "seconds"):
        shown.add_column(name, justify="right")
    for row in rows:
        shown.add_row(*cells(row))
    return shown


def cells(row: Row) -> list[str]:
    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    return [
        str(row.step),
        number(row.train_reward, ".3f"),
        number(row.held_out_reward, ".3f"),
        number(row.metrics.get("loss/train"), ".4f"),
        number(row.metrics.get("on_policy/logprob_gap_mean"), ".1e"),
        number(row.metrics.get("on_policy/share_clipped"), ".1%"),
        number(row.rollouts_per_second, ".0f"),
        number(row.seconds, ".1f"),
    ]


class Board:
    """The table as it grows: redrawn on a terminal, one line a step elsewhere."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rows: list[Row] = []
        self.live = Live(table([], settings), console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> "Board":
        if self.live:
            self.live.start()
        else:
            print("step train held-out loss gap clipped rollouts/s seconds", flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.stop()

    def show(self, row: Row) -> None:
        self.rows.append(row)
        if self.live:
            self.live.update(table(self.rows, self.settings), refresh=True)
        else:
            print(" ".join(cell or "-" for cell in cells(row)), flush=True)


async def train(settings: Settings) -> tuple[list[Row], float]:
    """Runs the whole training. Returns the table's rows and the seconds between the first and the last of them."""
    model = art.TrainableModel(
        name=f"{settings.task.name}-{time.strftime('%m%d-%H%M%S')}-{settings.seed}",
        project=PROJECT,
        base_model=settings.base_model,
    )
    backend = ServerlessBackend(api_key=settings.api_key, base_url=f"{settings.base_url}/v1")
    await model.register(backend)
    entity = model.entity or "local"
    print(f"Watch it at {settings.base_url}/{entity}/{PROJECT}/training/{model.name}\n", flush=True)
    rng = random.Random(settings.seed)
    held_out = settings.task.draw(rng, settings.held_out_prompts)
    rollouts = Rollouts(settings, model, model.openai_client())
    with Board(settings) as board:
        started = time.monotonic()
        before = await rollouts.groups(held_out, 0, "held-out", settings.held_out_rollouts)
        board.show(Row(0, time.monotonic() - started, held_out_reward=mean_reward(before)))
        training_started = time.monotonic()
        for _ in range(settings.steps):
            board.show(await train_step(settings, backend, model, rollouts, held_out, rng, board.rows[-1].step))
        seconds = time.monotonic() - training_started
    await backend.close()
    return board.rows, seconds


async def train_step(
    settings: Settings,
    backend: ServerlessBackend,
    model: art.TrainableModel,
    rollouts: Rollouts,
    held_out: list[Scenario],
    rng: random.Random,
    step: int,
) -> Row:
    """Samples from `step`, trains on it, and measures the new step on held-out questions."""
    started = time.monotonic()
    scenarios = settings.task.draw(rng, settings.prompts_per_step)
    groups = await rollouts.groups(scenarios, step, "train", settings.rollouts_per_prompt)
    sampled = time.monotonic()
    result = await backend.train(model, groups, learning_rate=settings.learning_rate)
    is_last = step + 1 == settings.steps
    tested = await rollouts.groups(held_out, result.step, "held-out", settings.held_out_rollouts if is_last else 1)
    return Row(
        step=result.step,
        seconds=time.monotonic() - started,
        train_reward=mean_reward(groups),
        held_out_reward=mean_reward(tested),
        rollouts_per_second=settings.prompts_per_step * settings.rollouts_per_prompt / (sampled - started),
        metrics=result.metrics,
    )


BLOCKS = "▁▂▃▄▅▆▇█"


def curve(rewards: list[float]) -> str:
    return "".join(BLOCKS[min(int(reward * len(BLOCKS)), len(BLOCKS) - 1)] for reward in rewards)


def report(rows: list[Row], settings: Settings, seconds: float) -> bool:
    """Prints before → after. True when the held-out reward rose."""
    rewards = [row.held_out_reward for row in rows if row.held_out_reward is not None]
    before, after = rewards[0], rewards[-1]
    console.print(
        f"\nheld-out reward  {before:.3f} {curve(rewards)} {after:.3f}   {settings.steps} steps in {seconds:.0f} s"
    )
    return after > before


def parse_arguments() -> Settings:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--api-key", default=os.environ.get("WANDB_API_KEY", ""))
    parser.add_argument("--task", choices=sorted(TASKS), default="sums")
    parser.add_argument("--base-model", default="heddle/loom-tiny")
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--prompts-per-step", type=int, default=16)
    parser.add_argument("--rollouts-per-prompt", type=int, default=8)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return Settings(
        base_url=given.base_url,
        api_key=given.api_key,
        task=TASKS[given.task],
        base_model=given.base_model,
        steps=given.steps,
        prompts_per_step=given.prompts_per_step,
        rollouts_per_prompt=given.rollouts_per_prompt,
        held_out_prompts=64,
        held_out_rollouts=4,
        learning_rate=given.learning_rate,
        seed=given.seed,
    )


def main() -> int:
    settings = parse_arguments()
    os.environ.update(WANDB_BASE_URL=settings.base_url, WANDB_API_KEY=settings.api_key)
    # The rollouts are traced as such; tracing the chat completion inside each as well would cost as much again.
    client = weave.init(PROJECT, settings={"implicitly_patch_integrations": False})
    # openpipe-art also opens a W&B run when the key is in the environment; it is given its key as an argument.
    del os.environ["WANDB_API_KEY"]
    rows, seconds = asyncio.run(train(settings))
    client.flush()
    return 0 if report(rows, settings, seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
