"""Rollouts with openpipe-art of every shape that a chat template may print otherwise later: turns, tools and parallel
calls, thinking on and off, streams, several choices, stop strings, cut answers, an open answer, further histories. Trains
on them and prints what it saw."""

import asyncio
import inspect
import json
import os
import sys
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import art
from art.serverless.backend import ServerlessBackend
from openai import LengthFinishReasonError
from openai.lib.streaming.chat import ChatCompletionStreamState

QUESTIONS = ("What is 3 + 4?", "Say hello.")
# With a schema that prints otherwise once its numbers and members have been through JavaScript, and no description.
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "parameters": {
                "type": "object",
                "properties": {
                    "b": {"type": "number", "maximum": 1.0},
                    "1": {"type": "string"},
                },
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "look_up", "description": "Looks <it> up, é."},
    },
]


def call(number: int, name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"chatcmp{number:02}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


PARALLEL: list[Any] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            call(1, "add", '{"b":1.0,"1":"x"}'),
            call(2, "look_up", '{"é": [1, 2.50]}'),
        ],
    },
    {"role": "tool", "tool_call_id": "chatcmp01", "content": "7"},
    {
        "role": "tool",
        "tool_call_id": "chatcmp02",
        "content": "found <b>it</b>",
    },
]


class Rollouts:
    def __init__(self, model: art.TrainableModel, thinking: bool) -> None:
        self.client = model.openai_client()
        self.name = model.get_inference_name()
        self.kwargs = {"enable_thinking": thinking}

    async def ask(self, messages: list[Any], **more: Any) -> list[Any]:
        """The choices of one reply."""
        extra = {
            "chat_template_kwargs": self.kwargs,
            **more.pop("extra_body", {}),
        }
        options: dict[str, Any] = {"max_tokens": 14, "logprobs": True, **more}
        reply: Any = await self.client.chat.completions.create(
            model=self.name, messages=messages, extra_body=extra, **options
        )
        if not options.get("stream"):
            return reply.choices
        if not hasattr(reply, "__aiter__"):
            return reply.choices
        state = ChatCompletionStreamState()
        async for chunk in reply:
            state.handle_chunk(chunk)
        try:
            return state.get_final_completion().choices
        except LengthFinishReasonError as error:
            # The client does not parse a cut answer; it is a choice nevertheless.
            return error.completion.choices

    async def talk(
        self, first: list[Any], replies: list[list[Any]], **more: Any
    ) -> list[Any]:
        """A conversation: each answer is sent back as clients do, followed by the next messages."""
        elements = list(first)
        for following in [*replies, []]:
            (choice,) = await self.ask(plain(elements), **more)
            elements += [choice, *following]
        return elements


def plain(elements: list[Any]) -> list[Any]:
    """Messages as openpipe-art makes them of choices."""
    return art.Trajectory(messages_and_choices=elements).messages()


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


async def attempts(rollouts: Rollouts, question: str) -> list[art.Trajectory]:
    begin = [{"role": "system", "content": " Be brief. "}, user(question)]
    parts = user([{"type": "text", "text": question}, {"type": "text", "text": "Now."}])
    made: list[list[Any]] = [
        await rollouts.talk(begin, [[user("And twice that?")], [user("Why?")]]),
        await rollouts.talk(
            [user(question)], [[*PARALLEL], [user("So?")]], tools=TOOLS
        ),
        await rollouts.talk([user(question)], [[user("And?")]], stream=True),
        await rollouts.talk([parts], [[user("And?")]], stop=["e", "a"]),
        await rollouts.talk([user(question)], [[user("And?")]], max_tokens=2),
    ]
    open_answer: list[Any] = [
        user(question),
        {"role": "assistant", "content": "It is"},
    ]
    body = {"add_generation_prompt": False, "continue_final_message": True}
    made.append([*open_answer, *(await rollouts.ask(open_answer, extra_body=body))])
    trajectories = [
        art.Trajectory(messages_and_choices=elements, tools=tools_of(elements))
        for elements in made
    ]
    several = await rollouts.ask([user(question)], n=2)
    other = await rollouts.talk([user("Other: " + question)], [[user("And?")]])
    trajectories.append(
        art.Trajectory(
            messages_and_choices=[user(question), several[0]],
            additional_histories=[
                history([user(question), several[1]]),
                history(other),
            ],
        )
    )
    for number, trajectory in enumerate(trajectories):
        trajectory.reward = float(number % 3)
    return trajectories


def history(elements: list[Any]) -> Any:
    # Newer versions call the history of a trajectory `LegacyHistory`, and something else `History`.
    kind = getattr(art.trajectories, "LegacyHistory", None) or art.trajectories.History
    return kind(messages_and_choices=elements)


def tools_of(elements: list[Any]) -> Any:
    called = any(
        isinstance(one, dict) and one.get("role") == "tool" for one in elements
    )
    return TOOLS if called else None


def sampled(trajectories: list[art.Trajectory]) -> int:
    """Tokens that the policy sampled."""
    histories = [
        elements
        for one in trajectories
        for elements in [
            one.messages_and_choices,
            *(more.messages_and_choices for more in one.additional_histories),
        ]
    ]
    return sum(
        len(element.logprobs.content)
        for elements in histories
        for element in elements
        if not isinstance(element, dict)
    )


async def main() -> None:
    url, key, name, base_model = sys.argv[1:5]
    backend = ServerlessBackend(api_key=key, base_url=f"{url}/v1")
    asks_for_run = (
        "run_name" in inspect.signature(art.TrainableModel.__init__).parameters
    )
    model = art.TrainableModel(
        name=name,
        project="wire",
        base_model=base_model,
        **({"run_name": name} if asks_for_run else {}),
    )
    await model.register(backend)
    seen = []
    for thinking in (False, True):
        rollouts = Rollouts(model, thinking)
        groups = [
            art.TrajectoryGroup(await attempts(rollouts, question))
            for question in QUESTIONS
        ]
        tokens = sum(sampled(group.trajectories) for group in groups)
        result = await backend.train(model, groups, learning_rate=1e-3)
        seen.append({"step": result.step, "metrics": result.metrics, "sampled": tokens})
    print(json.dumps({"model_id": model.id, "trained": seen}))


asyncio.run(main())
