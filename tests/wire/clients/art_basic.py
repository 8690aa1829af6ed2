"""Common uses of openpipe-art: register, roll out, train twice, sample each step, delete. Prints the results."""

import asyncio
import inspect
import json
import os
import sys

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import art
from art.serverless.backend import ServerlessBackend
from art_rollouts import QUESTIONS, groups_of, rollout
from openai import APIStatusError, AsyncOpenAI

ROLLOUTS = 6


async def train(
    backend: ServerlessBackend, model: art.TrainableModel, client: AsyncOpenAI
) -> dict[str, object]:
    groups = await groups_of(model, client, ROLLOUTS)
    result = await backend.train(model, groups, learning_rate=1e-3)
    return {
        "step": result.step,
        "artifact": result.artifact_name,
        "metrics": result.metrics,
    }


async def status_of(client: AsyncOpenAI, name: str) -> int:
    try:
        await client.chat.completions.create(
            model=name, messages=[{"role": "user", "content": "hi"}], max_tokens=1
        )
        return 200
    except APIStatusError as error:
        return error.status_code


async def stream(client: AsyncOpenAI, name: str) -> dict[str, object]:
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model=name,
            messages=[{"role": "user", "content": "What is 2 + 2?"}],
            max_tokens=12,
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
        )
    ]
    text = "".join(
        chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices
    )
    usage = chunks[-1].usage
    return {
        "text": text,
        "models": sorted({chunk.model for chunk in chunks}),
        "usage": bool(usage and usage.total_tokens),
    }


async def whole(client: AsyncOpenAI, name: str) -> str:
    completion = await client.chat.completions.create(
        model=name,
        messages=[{"role": "user", "content": "What is 2 + 2?"}],
        max_tokens=12,
        temperature=0,
    )
    return completion.choices[0].message.content or ""


def trainable(name: str) -> art.TrainableModel:
    """Newer versions require the name of a run as well."""
    asks_for_run = (
        "run_name" in inspect.signature(art.TrainableModel.__init__).parameters
    )
    run = {"run_name": name} if asks_for_run else {}
    return art.TrainableModel(
        name=name, project="wire", base_model="heddle/loom-tiny", **run
    )


async def main() -> None:
    backend = ServerlessBackend(api_key=sys.argv[2], base_url=f"{sys.argv[1]}/v1")
    model = trainable(sys.argv[3])
    await model.register(backend)
    client = model.openai_client()
    again = trainable(sys.argv[3])
    await again.register(backend)
    name = model.get_inference_name()
    seen: dict[str, object] = {
        "same_id": model.id == again.id,
        "name": name,
        "first_step": await backend._get_step(model),
        "base_answer": await whole(client, "heddle/loom-tiny"),
        "step_0_answer": await whole(client, f"{name}:step0"),
        "trained": [await train(backend, model, client) for _ in range(2)],
        "stream": await stream(client, f"{name}:step2"),
        "newest": await whole(client, name),
        "steps": {
            step: await status_of(client, f"{name}:step{step}") for step in (0, 1, 2, 3)
        },
        "unknown": await status_of(client, "wandb-artifact:///local/wire/nobody"),
    }
    await backend._delete_checkpoint_files(model, [2])
    seen["after_delete"] = {
        step: await status_of(client, f"{name}:step{step}") for step in (0, 1, 2)
    }
    untrainable = await backend.train(
        model,
        [art.TrajectoryGroup([await rollout(model, client, QUESTIONS[0], top_p=1.0)])],
    )
    seen["untrainable_step"] = untrainable.step
    await backend.delete(model)
    seen["after_model_delete"] = await status_of(client, name)
    print(json.dumps(seen))


asyncio.run(main())
