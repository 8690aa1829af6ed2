"""
An app that asks a model through openai, traced and scored with weave; or, given refs of datasets of a project, what weave
reads of their rows and of the calls they came from.
"""

import asyncio
import json
import os
import sys
from typing import Any

import weave
from openai import OpenAI

QUESTIONS = ["What is 1 + 2?", "What is 20 + 30?", "respond with yes, no or maybe"]
SAMPLES = 5


class Length(weave.Scorer):
    @weave.op
    def score(self, *, output: str) -> dict[str, Any]:
        return {"length": len(output), "short": len(output) < 15}


def main(base_url: str, api_key: str, project: str) -> dict[str, Any]:
    openai = OpenAI(base_url=f"{base_url}/v1", api_key=api_key)

    @weave.op
    def answer(question: str, style: str) -> str:
        completion = openai.chat.completions.create(
            model="heddle/loom-tiny",
            messages=[
                {"role": "system", "content": style},
                {"role": "user", "content": question},
            ],
            max_tokens=16,
            temperature=1.0,
            logprobs=True,
        )
        return completion.choices[0].message.content or ""

    client = weave.init(project)
    scorer = Length()
    calls = [
        answer.call(question, "Be brief.")[1]
        for question in QUESTIONS
        for _ in range(SAMPLES)
    ]
    for call in calls:
        asyncio.run(call.apply_scorer(scorer))
    client.flush()
    return {
        "calls": [call.id for call in calls],
        "outputs": [call.output for call in calls],
    }


def read(client: Any, ref: str) -> dict[str, Any]:
    dataset = weave.ref(ref).get()
    rows = [dict(row) for row in dataset]
    asked = [client.get_call(row["call"].id) for row in rows]
    return {
        "class": type(dataset).__name__,
        "messages": [list(map(dict, row["messages"])) for row in rows],
        "scores": [row["score"] for row in rows],
        "calls": [
            {"id": call.id, "op": call.op_name.split("/")[-1].split(":")[0]}
            for call in asked
        ],
    }


def read_all(project: str, refs: list[str]) -> dict[str, Any]:
    client = weave.init(project)
    return {"datasets": [read(client, ref) for ref in refs]}


if __name__ == "__main__":
    base_url, api_key, project, *datasets = sys.argv[1:]
    os.environ.update(WANDB_BASE_URL=base_url, WANDB_API_KEY=api_key)
    print(
        json.dumps(
            read_all(project, datasets)
            if datasets
            else main(base_url, api_key, project)
        )
    )
