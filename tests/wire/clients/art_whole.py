"""ART's serverless flow as a whole: RL, logging, SFT, pull, fork, delete; with no setting but a URL and a key.

Prints what it saw.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

HOME = tempfile.mkdtemp(prefix="art-")
os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "WANDB_DIR": HOME,
    "WANDB_SILENT": "true",
}

import art
import wandb
from art.serverless.backend import ServerlessBackend
from art_rollouts import groups_of
from openai import AsyncOpenAI

# Another distribution than that of the log-probabilities, which the server should notice.
TOP_P = 0.9
ROLLOUTS = 4


def lesson(x: int) -> art.Trajectory:
    return art.Trajectory(
        messages_and_choices=[
            {"role": "user", "content": f"ping {x}"},
            {"role": "assistant", "content": f"pong {x}"},
        ],
        reward=0.0,
    )


async def answer(client: AsyncOpenAI, name: str) -> str:
    completion = await client.chat.completions.create(
        model=name,
        messages=[{"role": "user", "content": "ping 7"}],
        max_tokens=12,
        temperature=0,
    )
    return completion.choices[0].message.content or ""


async def main() -> None:
    name = sys.argv[2]
    backend = ServerlessBackend(
        api_key=os.environ["WANDB_API_KEY"], base_url=f"{sys.argv[1]}/v1"
    )
    model = art.TrainableModel(
        name=name, project="whole", base_model="heddle/loom-tiny", base_path=HOME
    )
    await model.register(backend)
    client = model.openai_client()
    seen: dict[str, object] = {}

    trained = await groups_of(model, client, ROLLOUTS, TOP_P)
    result = await backend.train(model, trained, learning_rate=1e-3)
    seen["rl_step"] = result.step
    seen["rl_metrics"] = result.metrics
    await model.log(trained, split="train", metrics=result.metrics, step=result.step)
    await model.log(await groups_of(model, client, ROLLOUTS, TOP_P), split="val")

    await model.train_sft(
        [lesson(x) for x in range(12)],
        config=art.TrainSFTConfig(learning_rate=2e-3, batch_size=4),
    )
    seen["sft_step"] = await backend._get_step(model)
    seen["sft_answer"] = await answer(client, model.get_inference_name())

    folder = await backend._experimental_pull_model_checkpoint(
        model, step="latest", local_path=f"{HOME}/pulled"
    )
    seen["pulled"] = {
        path.name: path.stat().st_size for path in sorted(Path(folder).iterdir())
    }

    fork = art.TrainableModel(
        name=f"{name}-fork",
        project="whole",
        base_model="heddle/loom-tiny",
        base_path=HOME,
    )
    await fork.register(backend)
    await backend._experimental_fork_checkpoint(fork, from_model=name)
    seen["fork_step"] = await backend._get_step(fork)
    seen["fork_answer"] = await answer(client, fork.get_inference_name())
    continued = await backend.train(
        fork, await groups_of(fork, client, ROLLOUTS, TOP_P), learning_rate=1e-4
    )
    seen["fork_continued"] = continued.step

    await model.delete_checkpoints()
    page = await backend._client.models.checkpoints.list(model_id=model.id or "")
    seen["steps_after_delete"] = [checkpoint.step for checkpoint in page.data]
    seen["fork_after_delete"] = await answer(client, fork.get_inference_name())

    # A run that outlives its model would write to a deleted one.
    for trained in (model, fork):
        if trained._wandb_run:
            trained._wandb_run.finish()
    run = wandb.Api().run(f"whole/{name}")
    seen["history_keys"] = sorted(
        {key for row in run.scan_history() for key in row if "/" in key}
    )
    await backend.delete(fork)
    print(json.dumps(seen))


asyncio.run(main())
