"""What the benchmarks do with a server, through public clients: openai samples, openpipe-art's own HTTP client
registers models, sends jobs and reads their events. Heddle is known by its base URL only.
"""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import art
import httpx
from art.serverless.client import Client
from openai import AsyncOpenAI
from openai.types.chat.chat_completion import Choice

BASE_MODEL = "heddle/loom-tiny"
PROJECT = "bench"

REQUESTS_AT_ONCE = 64
"""Enough to keep the engine's batch full on a small machine, few enough to keep connections cheap."""

SFT_BATCH_SIZE = 16
SFT_LEARNING_RATE = 2e-3
EVENTS_PAUSE_S = 0.2

GAP = "on_policy/logprob_gap_max"
"""The difference between the log-probabilities of the trainer and of the engine that sampled, in nats."""


class Heddle:
    """One server and the clients that talk to it."""

    def __init__(self, base_url: str, api_key: str, base_model: str, thinking: bool | None) -> None:
        self.base_model = base_model
        self.template: Any = {} if thinking is None else {"chat_template_kwargs": {"enable_thinking": thinking}}
        headers = {"authorization": f"Bearer {api_key}"}
        self.api_key = api_key
        self.api_url = f"{base_url}/v1"
        self.openai = AsyncOpenAI(base_url=self.api_url, api_key=api_key, timeout=600)
        self.art = Client(base_url=self.api_url, api_key=api_key)
        self.http = httpx.AsyncClient(base_url=self.api_url, headers=headers, timeout=600)
        self.gate = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def create_model(self, what: str) -> "Model":
        name = f"{what}-{uuid.uuid4().hex[:8]}"
        created = await self.art.models.create(project=PROJECT, name=name, base_model=self.base_model)
        return Model(created.id, created.entity, name)

    async def chat(self, model: str, messages: art.Messages, max_tokens: int, tools: art.Tools | None = None) -> Choice:
        """One sampled turn, with the log-probabilities that training needs."""
        return (await self.sample(model, messages, max_tokens, n=1, tools=tools))[0]

    async def sample(
        self, model: str, messages: art.Messages, max_tokens: int, n: int, tools: art.Tools | None = None
    ) -> list[Choice]:
        """Several answers to the same messages, in one request."""
        options: Any = {"tools": tools} if tools else {}
        options["extra_body"] = self.template
        async with self.gate:
            completion = await self.openai.chat.completions.create(
                model=model, messages=messages, max_tokens=max_tokens, n=n, temperature=1.0, logprobs=True, **options
            )
        return completion.choices

    async def events(self, job_id: str, pause_s: float) -> AsyncIterator[tuple[float, str, dict[str, Any]]]:
        """A job's events as they are seen, each with the time, up to the one that ends the job.

        Plain HTTP on one connection: looking often through the openai client would take a core from the job.
        """
        path, seen = f"/preview/training-jobs/{job_id}/events", {}
        while True:
            response = await self.http.get(path, params=seen)
            now = time.monotonic()
            for event in response.raise_for_status().json()["data"]:
                seen = {"after": event["id"]}
                if event["type"] == "training_failed":
                    raise RuntimeError(f"the job failed: {event['data']}")
                yield now, event["type"], event["data"]
                if event["type"] == "training_ended":
                    return
            await asyncio.sleep(pause_s)

    async def worst_gap(self, model_id: str) -> float | None:
        """The largest gap that any job of the model reports; None when none does."""
        gaps = [
            checkpoint.metrics[GAP]
            async for checkpoint in self.art.models.checkpoints.list(model_id=model_id)
            if GAP in checkpoint.metrics
        ]
        return max(gaps, default=None)

    async def close(self) -> None:
        await asyncio.gather(self.openai.close(), self.art.close(), self.http.aclose())


@asynccontextmanager
async def connect(
    base_url: str, api_key: str, base_model: str = BASE_MODEL, thinking: bool | None = None
) -> AsyncIterator[Heddle]:
    """`thinking` is passed to chat templates that support it; None leaves the default."""
    heddle = Heddle(base_url, api_key, base_model, thinking)
    try:
        yield heddle
    finally:
        await heddle.close()


@dataclass(frozen=True)
class Model:
    id: str
    entity: str
    name: str

    def at(self, step: int) -> str:
        """What chat completions call the model as it was after `step` jobs."""
        return f"wandb-artifact:///{self.entity}/{PROJECT}/{self.name}:step{step}"


async def supervise(heddle: Heddle, model: Model, lines: list[dict[str, Any]]) -> None:
    """One job of supervised fine-tuning; returns when the model has its next step."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    uploaded = await heddle.http.post("/preview/training-data", content=text.encode())
    job = await heddle.art.sft_training_jobs.create(
        model_id=model.id,
        training_data_url=uploaded.raise_for_status().json()["training_data_url"],
        config={"batch_size": SFT_BATCH_SIZE, "learning_rate": SFT_LEARNING_RATE},
    )
    async for _ in heddle.events(job.id, EVENTS_PAUSE_S):
        pass
