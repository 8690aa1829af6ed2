"""Measure what heddle/loom-tiny can do and write the table into its README.md.

    python engine/base_model/measure.py engine/models/loom-tiny

An answer is right when it equals one of the accepted answers to the letter, in any of the taught styles.
Axes: B prompt, T token position.
"""

import argparse
from pathlib import Path
from random import Random
from typing import Any, cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import skills

PROMPTS = 200
SEED = "measure"
ANSWER_TOKENS_MAX = 80
HEADING = "## Measured\n\n"


def json_sum(rng: Random) -> skills.Sample:
    """The reinforcement-learning task: a sum below 50 + 50 that is to be answered as JSON, without saying so."""
    x, y = rng.randrange(50), rng.randrange(50)
    return skills.sample(rng, [skills.user(f"What is {x} + {y}?")], [skills.as_json(x + y)])


def answers(model: Any, tokenizer: Any, samples: list[skills.Sample], sampled: bool) -> list[str]:
    prompts = [
        tokenizer.apply_chat_template(
            sample.messages[:-1], tools=sample.tools, add_generation_prompt=True, tokenize=False
        )
        for sample in samples
    ]
    inputs = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
    options = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0} if sampled else {"do_sample": False}
    tokens_BT = model.generate(**inputs, max_new_tokens=ANSWER_TOKENS_MAX, **options)
    start = inputs["input_ids"].shape[1]
    return tokenizer.batch_decode(tokens_BT[:, start:], skip_special_tokens=True)


def measure(model: Any, tokenizer: Any, skill: skills.Skill, name: str) -> tuple[float, float]:
    """Share of right answers over PROMPTS prompts: greedy, and sampled at temperature 1."""
    rng = Random(f"{SEED}/{name}")
    samples = [skill(rng) for _ in range(PROMPTS)]

    def share_right(sampled: bool) -> float:
        given = answers(model, tokenizer, samples, sampled)
        return sum(answer in sample.accepted for answer, sample in zip(given, samples, strict=True)) / PROMPTS

    return share_right(sampled=False), share_right(sampled=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of the model, whose README.md gets the table")
    folder: Path = parser.parse_args().model
    torch.manual_seed(0)
    tokenizer = cast(Any, AutoTokenizer.from_pretrained(folder))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    table = ["| skill | greedy | sampled |", "| --- | --- | --- |"]
    tasks = {name: skill for name, (_, skill) in skills.SKILLS.items()} | {"json_sum": json_sum}
    for name, skill in tasks.items():
        greedy, sampled = measure(model, tokenizer, skill, name)
        table.append(f"| {name} | {greedy:.2f} | {sampled:.2f} |")
        print(table[-1], flush=True)
    readme = folder / "README.md"
    text, heading, _ = readme.read_text().partition(HEADING)
    readme.write_text(text + heading + "\n".join(table) + "\n")


if __name__ == "__main__":
    main()
