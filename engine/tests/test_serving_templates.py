"""Chat templates that come with a request: what they render, and what they cannot do to the server."""

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from examples import LOOM_TINY, Json, user
from serving import chat
from templates import text_of
from test_template import CONVERSATIONS, TOOLS

from engine.inference.chat_templates import MEMORY_MIB_MAX, SECONDS_MAX
from engine.template import rendered
from engine.trainer.chat import encode

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("server")]
OWN = (LOOM_TINY / "chat_template.jinja").read_text()
LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
MANY_SETS = "".join(f"{{% set a{i} = messages %}}" for i in range(3000))
PARTS = [{"type": "text", "text": "One"}, {"type": "text", "text": "two"}]
TOOL = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1.0, "y": [2]}'}}


def prompt_ids(**body: Any) -> list[int]:
    status, reply = chat(max_tokens=1, return_token_ids=True, **body)
    assert status == 200, reply
    return reply["prompt_token_ids"]


def refusal(**body: Any) -> Json:
    """The error of a request that is refused."""
    status, reply = chat(**{"messages": [user("Hi")], "max_tokens": 1, **body})
    assert status == 400, reply
    return reply["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [user("Hi")]},
        {"messages": [{"role": "developer", "content": "Be brief."}, user("Zoë\ud83d\ude00 <b>")]},
        {"messages": [{"role": "user", "content": PARTS}], "tools": [TOOL]},
        {
            "messages": [
                user("What is 1 + 2?"),
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "3"},
            ],
            "tools": [TOOL],
        },
        {
            "messages": [user("Count."), {"role": "assistant", "content": "1 2 3 "}],
            "add_generation_prompt": False,
            "continue_final_message": True,
        },
    ],
)
def test_the_models_own_template_renders_the_same(body: Json) -> None:
    assert prompt_ids(**body, chat_template=OWN) == prompt_ids(**body)


@pytest.mark.parametrize("conversation", ["several turns", "call with text", "parallel calls", "reasoning", "parts"])
@pytest.mark.parametrize("name", ["qwen3", "qwen2.5", "glm-4.5", "granite-4.0", "phi-4", "llama-like"])
def test_prompts_of_a_running_server_are_what_is_rendered_anew(tokenizer: Any, name: str, conversation: str) -> None:
    """What test_template.py compares inside one process, over the wire: down to the ids."""
    messages, template = CONVERSATIONS[conversation], text_of(name)
    body: Json = {"messages": messages, "chat_template": template}
    own = copy.deepcopy(tokenizer)
    own.chat_template = template
    for tools in (None, TOOLS):
        told = {"add_generation_prompt": True, "continue_final_message": False}
        try:
            text: str = rendered(messages, tools, own, told)
        except Exception:
            refusal(**body, **({"tools": tools} if tools else {}))
            continue
        assert prompt_ids(**body, **({"tools": tools} if tools else {})) == encode(tokenizer, text)


def test_a_template_sees_what_the_request_says(tokenizer: Any) -> None:
    template = (
        "{{ messages[0].content }}|{{ documents[0].text }}|{{ tools[0].function.name }}|{{ mood }}"
        "|{{ add_generation_prompt }}|{{ messages | length }}"
    )
    body = {"documents": [{"text": "page"}], "tools": [TOOL], "chat_template_kwargs": {"mood": "good"}}
    ids = prompt_ids(messages=[user("Hi")], chat_template=template, **body)
    assert tokenizer.decode(ids) == "Hi|page|add|good|True|1"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('Only one message, please') }}", "Only one message, please"),
        ("{% for %}", "Expected an expression"),
        ("{{ weather.today }}", "'weather' is undefined"),
        ("{{ messages | shout }}", "No filter named 'shout'"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{" + "(" * 5000 + ")" * 5000 + "}}", "recursion"),
    ],
)
def test_a_wrong_template_is_the_callers_mistake(template: str, words: str) -> None:
    error = refusal(chat_template=template)
    assert words in error["message"]
    assert error["param"] == "chat_template"


@pytest.mark.parametrize("template", [LOOP, MANY_SETS])
def test_a_template_that_takes_long_stops_nobody_else(template: str) -> None:
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(refusal, chat_template=template)
        answered = 0
        while not refused.done():
            prompt_ids(messages=[user("Hi")])
            answered += 1
        assert f"took longer than {SECONDS_MAX:g} s" in refused.result()["message"]
    # The first may come before the template has begun, and the second wait until it has ended.
    assert answered > 2
    assert prompt_ids(messages=[user("Hi")], chat_template=OWN) == prompt_ids(messages=[user("Hi")])


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10**10 }}",
        "{% set x = namespace(s='a') %}{% for _ in range(60) %}{% set x.s = x.s + x.s %}{% endfor %}",
        "{% for _ in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{{ raise_exception('a' * 10**10) }}",
    ],
)
def test_a_template_that_takes_much_memory(template: str) -> None:
    assert f"more than {MEMORY_MIB_MAX} MiB" in refusal(chat_template=template)["message"]
    assert prompt_ids(messages=[user("Hi")], chat_template=OWN) == prompt_ids(messages=[user("Hi")])


def test_a_template_among_its_own_arguments_has_the_same_limits() -> None:
    error = refusal(chat_template_kwargs={"chat_template": "{{ 'a' * 10**10 }}"})
    assert f"more than {MEMORY_MIB_MAX} MiB" in error["message"]


def test_a_long_reason_is_cut() -> None:
    assert len(json.dumps(refusal(chat_template="{{ raise_exception('a' * 10**6) }}"))) < 10_000


def test_arguments_of_the_tokenizer_are_not_the_requests() -> None:
    padding = {"tokenize": True, "padding": "max_length", "max_length": 10**12}
    assert prompt_ids(messages=[user("Hi")], chat_template_kwargs=padding) == prompt_ids(messages=[user("Hi")])


def test_what_the_models_own_template_rejects() -> None:
    assert "not JSON serializable" in refusal(chat_template_kwargs={"tools": [{}]})["message"]
