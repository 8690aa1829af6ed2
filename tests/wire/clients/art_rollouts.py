"""Rollouts as programs with openpipe-art make them: groups of attempts at a few sums."""

import asyncio

import art
from openai import AsyncOpenAI

QUESTIONS = [f"What is {x} + {y}?" for x, y in ((3, 4), (12, 30), (25, 17), (8, 8))]


async def rollout(
    model: art.TrainableModel, client: AsyncOpenAI, question: str, top_p: float
) -> art.Trajectory:
    messages: art.Messages = [{"role": "user", "content": question}]
    completion = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=messages,
        max_tokens=24,
        logprobs=True,
        temperature=1.0,
        top_p=top_p,
    )
    choice = completion.choices[0]
    length = len(choice.message.content or "")
    return art.Trajectory(
        messages_and_choices=[*messages, choice],
        reward=float(length),
        metrics={"short": length < 20},
    )


async def groups_of(
    model: art.TrainableModel, client: AsyncOpenAI, rollouts: int, top_p: float = 1.0
) -> list[art.TrajectoryGroup]:
    return [
        art.TrajectoryGroup(
            await asyncio.gather(
                *(rollout(model, client, question, top_p) for _ in range(rollouts))
            )
        )
        for question in QUESTIONS
    ]
