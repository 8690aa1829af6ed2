"""The supervised task of `learn`: answers in a notation that the base model has never seen, and never gives."""

import asyncio
import json
import random
import statistics
from dataclasses import dataclass

import art

from heddle import Heddle

TRAINING_EXAMPLES = 768
HELD_OUT_EXAMPLES = 128
ANSWER_TOKENS = 24


@dataclass(frozen=True)
class Example:
    """`What is 12 + 30?` and `{"sum": 42}`, or a difference in the same way: the operation becomes the key."""

    question: str
    answer: str

    def messages(self) -> art.Messages:
        return [{"role": "user", "content": self.question}, {"role": "assistant", "content": self.answer}]


def draw_examples(rng: random.Random) -> tuple[list[Example], list[Example]]:
    """(training, held-out); no question is in both."""
    pairs = rng.sample([(x, y) for x in range(100) for y in range(100)], TRAINING_EXAMPLES + HELD_OUT_EXAMPLES)
    examples = [sum_example(x, y) if rng.random() < 0.5 else difference_example(x, y) for x, y in pairs]
    return examples[:TRAINING_EXAMPLES], examples[TRAINING_EXAMPLES:]


def sum_example(x: int, y: int) -> Example:
    return Example(f"What is {x} + {y}?", json.dumps({"sum": x + y}))


def difference_example(x: int, y: int) -> Example:
    # The base model subtracts smaller numbers from larger ones only.
    low, high = sorted((x, y))
    return Example(f"What is {high} - {low}?", json.dumps({"difference": high - low}))


async def share_right(heddle: Heddle, model: str, examples: list[Example]) -> float:
    """Sampled at temperature 1, as everywhere here; right is what equals the reference to the letter."""
    choices = await asyncio.gather(*(heddle.chat(model, example.messages()[:1], ANSWER_TOKENS) for example in examples))
    pairs = zip(choices, examples, strict=True)
    return statistics.mean(choice.message.content == example.answer for choice, example in pairs)


async def loss(heddle: Heddle, model: str, examples: list[Example]) -> float:
    """Mean of -log p over the tokens of the reference answers and their ends of turn, in nats."""
    losses = await asyncio.gather(*(token_losses(heddle, model, example) for example in examples))
    return statistics.mean(value for values in losses for value in values)


async def token_losses(heddle: Heddle, model: str, example: Example) -> list[float]:
    """What the engine itself says about the answer when it is given as the prompt's last turn."""
    async with heddle.gate:
        asked = await heddle.openai.chat.completions.create(model=model, messages=example.messages()[:1], max_tokens=1)
        answered = await heddle.openai.chat.completions.create(
            model=model,
            messages=example.messages(),
            max_tokens=1,
            extra_body={"prompt_logprobs": 0, "add_generation_prompt": False},
        )
    assert asked.usage and answered.model_extra
    # After the question come the answer, its end of turn, and the newline that the chat template adds.
    tokens = answered.model_extra["prompt_logprobs"][asked.usage.prompt_tokens : -1]
    return [-only["logprob"] for token in tokens for only in token.values()]
