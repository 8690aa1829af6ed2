"""What is rendered anew is what vLLM would prompt with, over real chat templates."""

import copy
from typing import Any

import pytest
from examples import Json, user
from templates import TEMPLATES, text_of, with_template
from vllm.renderers.hf import _detect_content_format  # pyright: ignore[reportPrivateUsage]
from vllm_prompts import vllm_text

from engine.content_format import content_format
from engine.template import rendered

SCHEMA = {"type": "object", "properties": {"b": {"type": "number", "maximum": 1.0}, "1": {"type": "string"}}}
# As openpipe-art sends them, with members that vLLM leaves out, and with those that it prints only where given.
TOOLS: list[Json] = [
    {"function": {"parameters": SCHEMA, "name": "add"}, "type": "function"},
    {"type": "function", "x": 1, "function": {"name": "look", "description": "Looks <up> é.", "strict": True, "y": 2}},
]


def call(name: str, arguments: Any, number: int = 1) -> Json:
    return {"type": "function", "id": f"chatcmp{number:02}", "function": {"name": name, "arguments": arguments}}


def answer(content: Any, *calls: Json, **more: Any) -> Json:
    return {"role": "assistant", "content": content, **({"tool_calls": [*calls]} if calls else {}), **more}


def result(content: Any, number: int = 1) -> Json:
    return {"role": "tool", "tool_call_id": f"chatcmp{number:02}", "content": content}


SYSTEM: Json = {"role": "system", "content": " Be brief. "}
EMPTY = {"type": "text", "text": ""}
PARTS = [{"type": "text", "text": "One"}, {"type": "text", "text": "two"}]
CONVERSATIONS: dict[str, list[Json]] = {
    "one turn": [user("Hi")],
    "system": [SYSTEM, user("Hi")],
    "several turns": [SYSTEM, user(" a "), answer(" b\n"), user("c"), answer("d"), user("e")],
    "call": [user("a"), answer(None, call("add", '{"b": 1.0, "1": "x"}')), result("3")],
    "call with text": [user("a"), answer("Wait.", call("add", '{"b":[1,2],"é":"<&>"}')), result("3"), user("b")],
    "parallel calls": [
        user("a"),
        answer(None, call("add", '{"b": true}'), call("look", "{}", 2)),
        result("3"),
        result([*PARTS], 2),
    ],
    "odd arguments": [user("a"), answer("", call("add", ""), call("add", "no json", 2), call("add", "[1]", 3))],
    "no calls": [user("a"), answer("b", tool_calls=[]), user("c")],
    "reasoning": [user("a"), answer("b", reasoning="why"), user("c"), answer("d", reasoning_content="so"), user("e")],
    "reasoning in a tool loop": [user("a"), answer(None, call("add", "{}"), reasoning="why"), result("3")],
    "thoughts in the content": [user("a"), answer("<think>\nwhy\n</think>\n\nb"), user("c")],
    "parts": [{"role": "system", "content": PARTS}, {"role": "user", "content": PARTS}, answer(PARTS), user("x")],
    "empty parts": [{"role": "user", "content": [EMPTY, *PARTS]}, answer([EMPTY]), user("x"), result([EMPTY, *PARTS])],
    "other parts": [user("a"), answer([{"type": "refusal", "refusal": "no"}, {"type": "thinking", "thinking": "t"}])],
    "developer": [{"role": "developer", "content": "Be brief."}, user("Hi")],
    "developer and system": [SYSTEM, user("a"), answer("b"), {"role": "developer", "content": PARTS}, user("Hi")],
    "names": [{**user("a"), "name": "Ann"}, {**answer("b"), "name": "Bob"}, user("c")],
    "billing": [{"role": "system", "content": "x-anthropic-billing-header: 1\nBe brief."}, user("Hi")],
    "only billing": [{"role": "system", "content": "x-anthropic-billing-header: 1"}, user("Hi")],
    "two assistants": [user("a"), answer("b"), answer("c"), user("d")],
}


def outcome(make: Any) -> str:
    try:
        return make()
    except Exception as error:
        return f"refused: {type(error.__cause__ or error).__name__}"


@pytest.mark.parametrize("conversation", CONVERSATIONS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_prompts_are_those_of_vllm(tokenizer: Any, name: str, conversation: str) -> None:
    changed = with_template(tokenizer, text_of(name))
    for tools in (None, TOOLS):
        for options in ({}, {"enable_thinking": False}, {"enable_thinking": True, "preserve_thinking": True}):
            assert_same(changed, CONVERSATIONS[conversation], tools, options)


def assert_same(tokenizer: Any, messages: list[Json], tools: list[Json] | None, options: Json) -> None:
    told: Json = {"add_generation_prompt": True, "continue_final_message": False} | options
    ours = outcome(lambda: rendered(messages, tools, tokenizer, told))
    # vLLM writes to the messages that it is given.
    body: Json = copy.deepcopy({"messages": messages, **({"tools": tools} if tools else {})})
    assert ours == outcome(lambda: vllm_text(tokenizer, **body, chat_template_kwargs=options))


@pytest.mark.parametrize("name", TEMPLATES)
def test_an_open_answer_is_continued_as_by_vllm(tokenizer: Any, name: str) -> None:
    changed = with_template(tokenizer, text_of(name))
    messages = [user("Count."), answer("1 2 3")]
    how: Json = {"add_generation_prompt": False, "continue_final_message": True}
    ours = outcome(lambda: rendered(messages, None, changed, how))
    assert ours == outcome(lambda: vllm_text(changed, messages=copy.deepcopy(messages), **how))


@pytest.mark.parametrize("name", TEMPLATES)
def test_content_formats_are_those_of_vllm(name: str) -> None:
    assert content_format(text_of(name)) == _detect_content_format(text_of(name), default="string")


MACRO = "{% macro f(c) %}{% for p in c %}{% endfor %}{% endmacro %}"
LOOP = "{% for m in messages %}{% for p in m['content'] %}{{ p.text }}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "template",
    [
        LOOP,
        LOOP.replace("m['content']", "m.content[1:] | reverse"),
        LOOP.replace("in messages", "in messages[1:]"),
        "{% set rest = messages[1:] %}" + LOOP.replace("in messages", "in rest"),
        LOOP.replace("m['content']", "m['other']"),
        "{% for m in messages %}{% set content = m.content %}{% for p in content %}{% endfor %}{% endfor %}",
        MACRO + "{% for m in messages %}{{ f(m.content) }}{% endfor %}",
        MACRO + "{% for m in messages %}{{ f(c=m.content) }}{% endfor %}",
        "{% macro f(content) %}{% for p in content %}{% endfor %}{% endmacro %}{% for m in messages %}{% endfor %}",
        "{% set a, b = messages, 1 %}" + LOOP,
        "{% for m in messages %}{{ m.content }}{% endfor %}",
        "{% for",
    ],
)
def test_formats_of_other_ways_to_write_it(template: str) -> None:
    assert content_format(template) == _detect_content_format(template, default="string")
