"""
How long one step of reinforcement learning takes: Heddle through its HTTP API beside TRL's GRPOTrainer in one process,
with the same model, prompts, group size, adapter and answer length. Both take turns, so that whatever else the machine
does meets both; while one works, the other waits.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import art
from art.serverless.backend import ServerlessBackend
from openai.types.chat.chat_completion import Choice

from heddle import BASE_MODEL, GAP, PROJECT, Heddle, Model, connect
from report import console, show_table, write_json
from tasks import Scenario, Sums

ROOT = Path(__file__).resolve().parent.parent
PROMPTS = 16
ROLLOUTS = 8
ANSWER_TOKENS = 24
LEARNING_RATE = 2e-3
"""Heddle learns faster, and its answers become longer than TRL's: at 1e-6 both answer as the base model does."""

REST_S = 2.0
"""Between two loops' steps: vLLM's worker looks for work without a pause for a second after its last request, which
takes a core from the next loop."""

POLL_MS = 50.0
"""Between two looks at a job. A look takes the client and the server 3 ms of the cores that the trainer computes on:
every 10 ms they would slow it down by a third, where programs with openpipe-art look once a second."""

# The adapter that Heddle gives every model.
RANK, ALPHA = 8, 16
TARGET_MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

PARTS = ("rollouts", "job POST", "queue + load", "update", "save", "adapter load + first token")
"""The parts of a Heddle step in their order; `update` is all gradient steps of the job."""

Step = dict[str, float]
"""Seconds by part and as a `total`; beside them what says whether the steps are alike: `reward` and `tokens`."""


@dataclass
class Loop:
    """One model during its steps. All loops of one seed see the same questions."""

    heddle: Heddle
    model: Model
    questions: list[list[Scenario]]
    learning_rate: float
    pause_s: float
    step: int = 0
    task: Sums = field(default_factory=Sums)

    async def group(self, scenario: Scenario) -> art.TrajectoryGroup:
        """All attempts at one question, in one request."""
        question: art.Messages = [{"role": "user", "content": scenario.question}]
        choices = await self.heddle.sample(self.model.at(self.step), question, ANSWER_TOKENS, n=ROLLOUTS)
        return art.TrajectoryGroup(self.trajectory(scenario, question, choice) for choice in choices)

    def trajectory(self, scenario: Scenario, question: art.Messages, choice: Choice) -> art.Trajectory:
        reward = self.task.reward(scenario, choice.message.content or "")
        return art.Trajectory(messages_and_choices=[*question, choice], reward=reward)

    async def take_step(self) -> Step:
        """Samples, trains, and ends with the first token of the new step."""
        times = [time.monotonic()]
        groups = await asyncio.gather(*(self.group(scenario) for scenario in self.questions[self.step]))
        times.append(time.monotonic())
        more = await self.train(groups, times)
        self.step += 1
        await self.heddle.chat(self.model.at(self.step), [{"role": "user", "content": "hi"}], 1)
        times.append(time.monotonic())
        seconds = [after - before for before, after in itertools.pairwise(times)]
        parts = PARTS if len(seconds) == len(PARTS) else (PARTS[0], "train", PARTS[-1])
        return {**dict(zip(parts, seconds, strict=True)), "total": times[-1] - times[0], **likeness(groups), **more}

    async def train(self, groups: list[art.TrajectoryGroup], times: list[float]) -> Step:
        """Runs one job and adds the times at which its parts ended."""
        job = await self.heddle.art.training_jobs.create(
            model_id=self.model.id,
            trajectory_groups=groups,
            experimental_config={"learning_rate": self.learning_rate},
        )
        times.append(time.monotonic())
        started = updated = ended = times[-1]
        gaps: list[float] = []
        async for seen, kind, data in self.heddle.events(job.id, self.pause_s):
            if kind == "training_started":
                started = updated = seen
            elif kind == "gradient_step":
                updated = seen
                gaps += [data[GAP]] if GAP in data else []
            else:
                ended = seen
        times += [started, updated, ended]
        return {"gap": max(gaps)} if gaps else {}


@dataclass
class ArtLoop(Loop):
    """The same as programs with openpipe-art are written: a request for every rollout, and its backend, which looks at
    the events once a second."""

    def __post_init__(self) -> None:
        self.backend = ServerlessBackend(api_key=self.heddle.api_key, base_url=self.heddle.api_url)
        self.art_model = art.TrainableModel(name=self.model.name, project=PROJECT, base_model=BASE_MODEL)

    async def group(self, scenario: Scenario) -> art.TrajectoryGroup:
        question: art.Messages = [{"role": "user", "content": scenario.question}]
        asked = (self.heddle.chat(self.model.at(self.step), question, ANSWER_TOKENS) for _ in range(ROLLOUTS))
        return art.TrajectoryGroup(
            self.trajectory(scenario, question, choice) for choice in await asyncio.gather(*asked)
        )

    async def train(self, groups: list[art.TrajectoryGroup], times: list[float]) -> Step:
        """`waited` is the time from the new step's being there to openpipe-art's noticing."""
        if self.art_model.id is None:
            await self.backend.register(self.art_model)
        there = asyncio.create_task(self.step_is_there(self.step + 1))
        await self.backend.train(self.art_model, groups, learning_rate=self.learning_rate)
        times.append(time.monotonic())
        return {"waited": times[-1] - await there}

    async def step_is_there(self, step: int) -> float:
        """The time at which the server first lists the step."""
        newest = {"limit": 1, "order": "desc"}
        while True:
            response = await self.heddle.http.get(f"/preview/models/{self.model.id}/checkpoints", params=newest)
            if response.raise_for_status().json()["data"][0]["step"] == step:
                return time.monotonic()
            await asyncio.sleep(self.pause_s)


def likeness(groups: list[art.TrajectoryGroup]) -> Step:
    trajectories = [trajectory for group in groups for trajectory in group.trajectories]
    tokens = [
        len(turn.logprobs.content or [])
        for trajectory in trajectories
        for turn in trajectory.messages_and_choices
        if not isinstance(turn, dict) and turn.logprobs
    ]
    return {
        "reward": statistics.mean(trajectory.reward for trajectory in trajectories),
        "tokens": statistics.mean(tokens),
    }


class Trl:
    """trl_side.py as a child process."""

    def __init__(self, given: argparse.Namespace) -> None:
        options = {
            "model": ROOT / "engine/models/loom-tiny",
            "output-dir": given.trl_log.with_suffix(""),
            "steps": given.warm_up + given.steps,
            "prompts-per-step": PROMPTS,
            "rollouts-per-prompt": ROLLOUTS,
            "answer-tokens": ANSWER_TOKENS,
            "learning-rate": given.learning_rate,
            "rank": RANK,
            "alpha": ALPHA,
            "seed": given.seed,
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self.log = given.trl_log
        self.process = subprocess.Popen(
            [given.trl_python, str(ROOT / "bench/trl_side.py"), *flags, "--target-modules", *TARGET_MODULES],
            env={
                **os.environ,
                "HF_HUB_OFFLINE": "1",
                "PYTHONPATH": os.pathsep.join((given.trl_path, str(ROOT / "demo"))),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=given.trl_log.open("w"),
            text=True,
        )

    async def ready(self) -> None:
        await asyncio.to_thread(self.reply)

    async def take_step(self) -> Step:
        started = time.monotonic()
        assert self.process.stdin
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        told = await asyncio.to_thread(self.reply)
        total = time.monotonic() - started
        return {**told, "update": total - told["rollouts"], "total": total}

    def reply(self) -> Step:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"TRL ended:\n{self.log.read_text()[-3000:]}")
        return json.loads(line)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


async def measure(given: argparse.Namespace) -> dict[str, list[Step]]:
    """The measured steps of each loop, taken in turns."""
    task, rng = Sums(), random.Random(given.seed)
    rounds = given.warm_up + given.steps
    questions = [task.draw(rng, PROMPTS) for _ in range(rounds)]
    steps: dict[str, list[Step]] = {"heddle": [], "art": [], "trl": []}
    trl = Trl(given)
    try:
        async with connect(given.base_url, given.api_key) as heddle:
            how = (questions, given.learning_rate, given.poll_ms / 1000)
            loops = {
                "heddle": Loop(heddle, await heddle.create_model("train"), *how),
                "art": ArtLoop(heddle, await heddle.create_model("train-art"), *how),
                "trl": trl,
            }
            await trl.ready()
            for number in range(rounds):
                for name, loop in loops.items():
                    await asyncio.sleep(REST_S)
                    steps[name].append(await loop.take_step())
                totals = "  ".join(f"{name} {taken[-1]['total']:.2f} s" for name, taken in steps.items())
                kind = "warm-up" if number < given.warm_up else "measured"
                console.print(f"round {number + 1}/{rounds} ({kind})  {totals}", highlight=False)
    finally:
        trl.stop()
    return {name: taken[given.warm_up :] for name, taken in steps.items()}


def medians_of(steps: list[Step]) -> Step:
    """Of each number that any of the steps has, over the steps that have it."""
    keys = {key for step in steps for key in step}
    return {key: statistics.median(step[key] for step in steps if key in step) for key in keys}


def report(steps: dict[str, list[Step]], given: argparse.Namespace) -> dict[str, object]:
    medians = {name: medians_of(taken) for name, taken in steps.items()}
    heddle, with_art, trl = medians["heddle"], medians["art"], medians["trl"]
    ratio = heddle["total"] / trl["total"]
    waited = with_art["waited"]
    console.print(f"\nSeconds of one step: {PROMPTS} prompts x {ROLLOUTS} rollouts, medians of {given.steps} steps")
    show_table(
        ["part", "Heddle", "TRL"],
        [[part, heddle[part], trl.get(part)] for part in (*PARTS, "total")],
    )
    worst = max((step["gap"] for step in steps["heddle"] if "gap" in step), default=None)
    console.print(
        f"Heddle / TRL                {ratio:.2f}\n"
        f"ART's own polling           adds {waited:.3f} s a step: it looks once a second\n"
        f"worst logprob gap           {'not reported' if worst is None else format(worst, '.1e')}\n"
        f"tokens an answer, reward    Heddle {heddle['tokens']:.1f}, {heddle['reward']:.2f}"
        f"   TRL {trl['tokens']:.1f}, {trl['reward']:.2f}\n"
        f"with a request a rollout     {with_art['total'] - waited:.3f} s a step without that polling\n"
        "Rollouts: Heddle by the openai client, one request a prompt; TRL by transformers in its own process.",
        highlight=False,
    )
    return {
        "settings": {
            "prompts": PROMPTS,
            "rollouts": ROLLOUTS,
            "answer_tokens": ANSWER_TOKENS,
            "learning_rate": given.learning_rate,
            "seed": given.seed,
            "poll_ms": given.poll_ms,
        },
        "medians": medians,
        "heddle_over_trl": ratio,
        "added_by_art_polling_s": waited,
        "logprob_gap_max": worst,
        "steps": steps,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--api-key", required=True)
    parser.add_argument("--trl-python", required=True, help="the engine's interpreter")
    parser.add_argument("--trl-path", required=True, help="folder with the packages of requirements.txt")
    parser.add_argument("--trl-log", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--poll-ms", type=float, default=POLL_MS)
    parser.add_argument("--learning-rate", type=float, default=LEARNING_RATE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    steps = asyncio.run(measure(given))
    write_json(given.json, report(steps, given))


if __name__ == "__main__":
    main()
