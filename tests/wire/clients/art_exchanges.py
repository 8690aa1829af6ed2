"""Trajectories that newer versions of openpipe-art record by themselves, whole requests with their responses: two turns
each, a tool among them, streamed and not. Trains on them and prints what it saw."""

import asyncio
import inspect
import json
import os
import sys

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import art
from art.serverless.backend import ServerlessBackend

TOOL = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}},
}


async def attempt(
    model: art.TrainableModel, question: str, *, stream: bool
) -> art.Trajectory:
    client = model.openai_client()
    options = {
        "model": model.get_inference_name(),
        "max_tokens": 12,
        "logprobs": True,
        "tools": [TOOL],
    }
    messages: list = [{"role": "user", "content": question}]
    async with entered(art.Trajectory()) as trajectory:
        for follow_up in ("And twice that?", None):
            reply = await client.chat.completions.create(
                messages=messages, stream=stream, **options
            )
            text = (
                await joined(reply)
                if stream
                else reply.choices[0].message.content or ""
            )
            messages = [
                *messages,
                {"role": "assistant", "content": text},
                {"role": "user", "content": follow_up},
            ]
    trajectory.reward = float(len(text))
    return trajectory


class entered:
    """A trajectory records while it is entered."""

    def __init__(self, trajectory: art.Trajectory) -> None:
        self.trajectory = trajectory

    async def __aenter__(self) -> art.Trajectory:
        return self.trajectory.__enter__()

    async def __aexit__(self, *error: object) -> None:
        self.trajectory.__exit__(*error)


async def joined(chunks) -> str:
    return "".join(
        [
            chunk.choices[0].delta.content or ""
            async for chunk in chunks
            if chunk.choices
        ]
    )


async def main() -> None:
    backend = ServerlessBackend(api_key=sys.argv[2], base_url=f"{sys.argv[1]}/v1")
    assert "run_name" in inspect.signature(art.TrainableModel.__init__).parameters
    model = art.TrainableModel(
        name=sys.argv[3],
        run_name=sys.argv[3],
        project="wire",
        base_model="heddle/loom-tiny",
    )
    await model.register(backend)
    groups = []
    for question in ("What is 3 + 4?", "What is 12 + 30?"):
        attempts = [
            attempt(model, question, stream=number % 2 == 1) for number in range(4)
        ]
        groups.append(art.TrajectoryGroup(await asyncio.gather(*attempts)))
    dumped = groups[0].model_dump(mode="json")["trajectories"][0]
    result = await backend.train(model, groups, learning_rate=1e-3)
    await backend._client.models.log(
        model_id=model.id, trajectory_groups=groups, split="val"
    )
    print(
        json.dumps(
            {"members": sorted(dumped), "step": result.step, "metrics": result.metrics}
        )
    )


asyncio.run(main())
