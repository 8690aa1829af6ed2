"""
TRL's GRPOTrainer on the demo's sums, one step at a time: writes a JSON line when it stands before a step, and takes
the step once it is sent a line. A step is everything between two of those lines: rollouts with transformers in this
process, rewards, gradient, optimizer. Runs in the engine's environment with the packages of requirements.txt beside it.
"""

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import datasets  # pyright: ignore[reportMissingImports]
import torch  # pyright: ignore[reportMissingImports]
from peft import LoraConfig  # pyright: ignore[reportMissingImports]
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback  # pyright: ignore[reportMissingImports]
from trl import GRPOConfig, GRPOTrainer  # pyright: ignore[reportMissingImports]

from tasks import TASKS, Scenario


class Clock(TrainerCallback):
    """Holds every step until it is asked for, and tells how the last one went."""

    def __init__(self, replies: Any) -> None:
        self.replies = replies
        self.asked = 0.0
        self.last: dict[str, float] = {}

    def on_step_begin(self, *_: object, **__: object) -> None:
        self.replies.write(json.dumps(self.last) + "\n")
        self.replies.flush()
        if not sys.stdin.readline():
            sys.exit(0)
        self.asked = time.monotonic()

    def on_rollouts(self, rewards: list[float], num_tokens: list[int]) -> None:
        self.last = {
            "rollouts": time.monotonic() - self.asked,
            "reward": sum(rewards) / len(rewards),
            "tokens": sum(num_tokens) / len(num_tokens),
        }

    def on_step_end(self, *_: object, **__: object) -> None:
        if torch.cuda.is_available():
            self.last["peak_gib"] = torch.cuda.max_memory_allocated() / 2**30


def trainer(given: argparse.Namespace, clock: Clock, output_dir: str) -> Any:
    task = TASKS[given.task]
    rng = random.Random(given.seed)
    scenarios = task.draw(rng, given.prompts_per_step * given.steps)
    rows = [
        {"prompt": [{"role": "user", "content": scenario.question}], "right": scenario.right} for scenario in scenarios
    ]

    def reward(completions: Any, right: Any, completion_ids: Any, **_: object) -> list[float]:
        answers = [completion[0]["content"] for completion in completions]
        rewards = [task.reward(Scenario("", number), answer) for number, answer in zip(right, answers, strict=True)]
        clock.on_rollouts(rewards, [len(ids) for ids in completion_ids])
        return rewards

    # Heddle's own choices: float32 on CPU and bfloat16 on GPU, and its optimizer.
    on_gpu = torch.cuda.is_available()
    config = GRPOConfig(
        output_dir=output_dir,
        max_steps=given.steps,
        per_device_train_batch_size=given.prompts_per_step * given.rollouts_per_prompt,
        num_generations=given.rollouts_per_prompt,
        max_completion_length=given.answer_tokens,
        temperature=1.0,
        learning_rate=given.learning_rate,
        lr_scheduler_type="constant",
        adam_beta1=0.9,
        adam_beta2=0.99,
        weight_decay=0.1,
        max_grad_norm=0.1,
        beta=0.0,
        use_vllm=False,
        use_cpu=not on_gpu,
        bf16=on_gpu,
        gradient_checkpointing=False,
        shuffle_dataset=False,
        report_to=[],
        logging_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        seed=given.seed,
    )
    lora = LoraConfig(r=given.rank, lora_alpha=given.alpha, target_modules=given.target_modules, task_type="CAUSAL_LM")
    dtype = torch.bfloat16 if on_gpu else torch.float32
    return GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(given.model, dtype=dtype),
        processing_class=AutoTokenizer.from_pretrained(given.model, padding_side="left"),
        reward_funcs=reward,
        args=config,
        train_dataset=datasets.Dataset.from_list(rows),
        peft_config=lora,
        callbacks=[clock],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--output-dir", required=True)
    parser.add_argument("--task", choices=sorted(TASKS), default="sums")
    parser.add_argument("--target-modules", nargs="+", required=True)
    for name in ("steps", "prompts-per-step", "rollouts-per-prompt", "answer-tokens", "rank", "alpha", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, required=True)
    given = parser.parse_args()
    # Libraries print to the standard output as well; the replies keep the original to themselves.
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        clock = Clock(replies)
        trainer(given, clock, given.output_dir).train()
        # The last step has no next one that would report it.
        replies.write(json.dumps(clock.last) + "\n")


if __name__ == "__main__":
    main()
