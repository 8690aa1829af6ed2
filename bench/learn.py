"""
Whether training through Heddle teaches anything: held-out results of the same model before and after, for three tasks
of reinforcement learning and one of supervised fine-tuning, each from several seeds. Both measurements ask the same
questions, and none of those serves to train, except that the preference task has only six.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import art
from art.serverless.backend import ServerlessBackend

import notation
from episodes import EPISODES, Episodes, play_groups
from heddle import BASE_MODEL, PROJECT, SFT_LEARNING_RATE, Heddle, connect, supervise
from report import console, show_table, write_json

TASKS = (*EPISODES, "notation")
HELD_OUT_PROMPTS = 64
HELD_OUT_ROLLOUTS = 4
ROLLOUTS = 8

RISE_MIN = 0.2
"""Far outside random variation: the standard error of 256 rollouts is 0.03 at most."""

GAP_MAX = 1e-4
"""On a CPU, where engine and trainer both compute in float32."""


@dataclass(frozen=True)
class Result:
    """One measure of one run; `rise` counts in the direction that is better."""

    task: str
    measure: str
    seed: int
    before: float
    after: float
    rise: float
    seconds: float
    learning_rate: float
    logprob_gap_max: float | None = None
    curve: tuple[float, ...] = ()


async def reinforce(heddle: Heddle, episodes: Episodes, seed: int, steps: int | None, primer: int) -> list[Result]:
    """Trains with openpipe-art's backend, after one supervised job over `primer` demonstrations, if there are any.

    Both measurements come after the primer, so that the rise is that of reinforcement learning. Seconds are those of
    the training, without the two measurements.
    """
    model = await heddle.create_model(f"{episodes.name}-{seed}")
    backend = ServerlessBackend(api_key=heddle.api_key, base_url=heddle.api_url)
    art_model = art.TrainableModel(name=model.name, project=PROJECT, base_model=heddle.base_model)
    await backend.register(art_model)
    rng = random.Random(seed)
    held_out = episodes.draw(rng, HELD_OUT_PROMPTS)
    first, pace = 0, episodes.pace
    if primer:
        shown = [scenario for scenario in episodes.draw(rng, 4 * primer) if scenario not in held_out][:primer]
        await supervise(heddle, model, [episodes.demonstrate(scenario) for scenario in shown])
        first, pace = 1, episodes.pace_after_primer
    steps = steps or pace.steps
    before = mean_reward(await play_groups(heddle, episodes, model.at(first), held_out, HELD_OUT_ROLLOUTS))
    started = time.monotonic()
    curve: list[float] = []
    for step in range(steps):
        scenarios = draw_fresh(episodes, rng, held_out)
        groups = await play_groups(heddle, episodes, model.at(first + step), scenarios, ROLLOUTS)
        curve.append(mean_reward(groups))
        say(f"{episodes.name}, seed {seed}: step {step + 1}/{steps}, train reward {curve[-1]:.3f}")
        await backend.train(art_model, groups, learning_rate=pace.learning_rate)
    seconds = time.monotonic() - started
    after = mean_reward(await play_groups(heddle, episodes, model.at(first + steps), held_out, HELD_OUT_ROLLOUTS))
    gap = await heddle.worst_gap(model.id)
    await backend.close()
    rise = after - before
    rate = pace.learning_rate
    return [Result(episodes.name, "reward", seed, before, after, rise, seconds, rate, gap, tuple(curve))]


def draw_fresh(episodes: Episodes, rng: random.Random, held_out: list[Any]) -> list[Any]:
    """Questions to train on, none of them held out; where a task has too few different ones for that, any."""
    count = episodes.prompts_per_step
    drawn = episodes.draw(rng, 4 * count)
    fresh = [scenario for scenario in drawn if scenario not in held_out]
    return (fresh if len(fresh) >= count else drawn)[:count]


async def fine_tune(heddle: Heddle, seed: int) -> list[Result]:
    model = await heddle.create_model(f"notation-{seed}")
    training, held_out = notation.draw_examples(random.Random(seed))

    async def measure(step: int) -> tuple[float, float]:
        name = model.at(step)
        return await notation.loss(heddle, name, held_out), await notation.share_right(heddle, name, held_out)

    loss_before, right_before = await measure(0)
    say(f"notation, seed {seed}: loss {loss_before:.3f}, right {right_before:.3f}")
    started = time.monotonic()
    await supervise(heddle, model, [{"messages": example.messages()} for example in training])
    seconds = time.monotonic() - started
    loss_after, right_after = await measure(1)
    loss_fall, right_rise = loss_before - loss_after, right_after - right_before
    return [
        Result("notation", "loss", seed, loss_before, loss_after, loss_fall, seconds, SFT_LEARNING_RATE),
        Result("notation", "share right", seed, right_before, right_after, right_rise, seconds, SFT_LEARNING_RATE),
    ]


def mean_reward(groups: list[art.TrajectoryGroup]) -> float:
    return statistics.mean(trajectory.reward for group in groups for trajectory in group.trajectories)


def say(line: str) -> None:
    """Progress; the table is for the standard output."""
    print(line, file=sys.stderr, flush=True)


async def run(given: argparse.Namespace) -> list[Result]:
    results: list[Result] = []
    thinking = None if given.thinking is None else given.thinking == "on"
    async with connect(given.base_url, given.api_key, given.base_model, thinking) as heddle:
        for task in given.tasks:
            for seed in given.seeds:
                episodes = EPISODES.get(task)
                if episodes is None:
                    results += await fine_tune(heddle, seed)
                else:
                    results += await reinforce(heddle, episodes, seed, given.steps, given.primer)
                console.print(line(results[-1]), highlight=False)
    return results


def line(result: Result) -> str:
    return f"{result.task}, seed {result.seed}: {result.measure} {result.before:.3f} -> {result.after:.3f}"


def report(results: list[Result]) -> bool:
    """Prints the table. True when every result rose enough and every reported gap is small."""
    show_table(
        ["task", "measure", "seed", "before", "after", "rise", "seconds", "logprob gap"],
        [
            [
                result.task,
                result.measure,
                str(result.seed),
                result.before,
                result.after,
                result.rise,
                f"{result.seconds:.0f}",
                "" if result.logprob_gap_max is None else f"{result.logprob_gap_max:.1e}",
            ]
            for result in results
        ],
    )
    gaps = [result.logprob_gap_max for result in results if result.logprob_gap_max is not None]
    least = min(results, key=lambda result: result.rise)
    console.print(
        f"smallest rise  {least.rise:.3f} ({least.task}, seed {least.seed}); at least {RISE_MIN} is asked for"
    )
    if gaps:
        console.print(f"worst logprob gap  {max(gaps):.1e}; below {GAP_MAX:.0e} is asked for on a CPU")
    return least.rise >= RISE_MIN and max(gaps, default=0.0) < GAP_MAX


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--api-key", required=True)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--base-model", default=BASE_MODEL)
    parser.add_argument("--primer", type=int, default=0)
    parser.add_argument("--thinking", choices=("on", "off"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    results = asyncio.run(run(given))
    all_rose = report(results)
    settings = {
        "thinking": given.thinking,
        "primer": given.primer,
        "rollouts_per_prompt": ROLLOUTS,
        "held_out_prompts": HELD_OUT_PROMPTS,
        "held_out_rollouts": HELD_OUT_ROLLOUTS,
    }
    write_json(given.json, {"settings": settings, "results": [asdict(result) for result in results]})
    return 0 if all_rose else 1


if __name__ == "__main__":
    sys.exit(main())
