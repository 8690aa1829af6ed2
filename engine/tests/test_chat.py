"""Conversations to token ids: what is trained on, and what is context."""

import copy
import math
from typing import Any

import pytest
from examples import Json, choice, user

from engine.chat import Sequence, Turn, look_up, tokenize, tokenize_taught
from engine.errors import InputProblem


def text_of(tokenizer: Any, sequence: Sequence | None) -> tuple[str, list[str]]:
    """The whole text, and the sampled stretches."""
    assert sequence is not None
    stretches: list[list[int]] = []
    for before, token, sampled in zip([False, *sequence.sampled], sequence.tokens, sequence.sampled, strict=False):
        if sampled and not before:
            stretches.append([])
        if sampled:
            stretches[-1].append(token)
    return tokenizer.decode(sequence.tokens), [tokenizer.decode(stretch) for stretch in stretches]


def ids(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def test_sampled_ids_stand_where_the_template_prints_the_turn(tokenizer: Any) -> None:
    answer = ids(tokenizer, "The answer is 42.<|im_end|>")
    sequence = tokenize([{"role": "system", "content": "s"}, user("hi"), choice(answer)], None, tokenizer)
    text, sampled = text_of(tokenizer, sequence)
    assert text == (
        "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
        "<|im_start|>assistant\nThe answer is 42.<|im_end|>"
    )
    assert sampled == ["The answer is 42.<|im_end|>"]
    assert sequence is not None
    assert [p for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if s] == [-0.5] * len(answer)
    assert all(math.isnan(p) for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if not s)


def test_unusual_ids_survive(tokenizer: Any) -> None:
    """The text "42" as one would never tokenise it: single bytes, and no end of turn."""
    sequence = tokenize([user("hi"), choice([7, 5, 9])], None, tokenizer)
    assert sequence is not None
    assert [t for t, s in zip(sequence.tokens, sequence.sampled, strict=True) if s] == [7, 5, 9]


def test_several_turns_and_one_end_of_turn_each(tokenizer: Any) -> None:
    elements = [
        user("one"),
        choice(ids(tokenizer, "1<|im_end|>")),
        user("two"),
        choice(ids(tokenizer, "2")),  # cut off: the template ends this turn
        user("three"),
        {"role": "assistant", "content": "not sampled"},
        user("four"),
        choice(ids(tokenizer, "4<|im_end|>")),
        user("never answered"),
    ]
    text, sampled = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert sampled == ["1<|im_end|>", "2", "4<|im_end|>"]
    plain = [user("one"), "1", user("two"), "2", user("three"), "not sampled", user("four"), "4"]
    messages = [{"role": "assistant", "content": turn} if isinstance(turn, str) else turn for turn in plain]
    assert text == tokenizer.apply_chat_template(messages, tokenize=False).removesuffix("\n")


def test_a_middle_tool_call_is_printed_once(tokenizer: Any) -> None:
    call = '<tool_call>\n{"name": "look", "arguments": {"q": 1}}\n</tool_call><|im_end|>'
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}]
    elements = [
        user("see"),
        choice(ids(tokenizer, call), content=None, tool_calls=calls),
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        choice(ids(tokenizer, "done<|im_end|>")),
    ]
    text, sampled = text_of(tokenizer, tokenize(elements, tools, tokenizer))
    assert sampled == [call, "done<|im_end|>"]
    assert text.count("<tool_call>") == 1
    assert "<tools>" in text
    assert "<tool_response>\nr\n</tool_response>" in text


def test_a_call_that_was_not_sampled_is_context(tokenizer: Any) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}]
    without_logprobs = {**choice([], content=None, tool_calls=calls), "logprobs": None, "token_ids": [42]}
    elements = [user("see"), without_logprobs, user("and?"), choice(ids(tokenizer, "done<|im_end|>"))]
    text, sampled = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert sampled == ["done<|im_end|>"]
    assert '<tool_call>\n{"name": "look", "arguments": {"q": 1}}\n</tool_call><|im_end|>' in text


def test_content_parts_and_null_content(tokenizer: Any) -> None:
    parts = {
        "role": "user",
        "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": ""}}],
    }
    elements = [parts, {"role": "assistant", "content": None}, user("x"), choice(ids(tokenizer, "y<|im_end|>"))]
    text, _ = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert text.startswith("<|im_start|>user\nsee<|im_end|>\n<|im_start|>assistant\n<|im_end|>")


def test_without_sampled_tokens_there_is_nothing_to_train(tokenizer: Any) -> None:
    plain = {**choice([]), "logprobs": None}
    for turn in (plain, choice([]), {"role": "assistant", "content": "a"}):
        assert tokenize([user("hi"), turn], None, tokenizer) is None


def test_ids_come_from_logprobs_or_token_ids_or_text(tokenizer: Any) -> None:
    answer = ids(tokenizer, "The answer is 7.<|im_end|>")
    as_text = choice(answer)
    for item, token in zip(as_text["logprobs"]["content"], answer, strict=True):
        item["token"] = tokenizer.decode([token])
    both = {**as_text, "token_ids": [3, 4, 5, 6, 7, 8, 9][: len(answer)]}
    for turn, expected in ((as_text, answer), (both, both["token_ids"])):
        sequence = tokenize([user("hi"), turn], None, tokenizer)
        assert sequence is not None
        assert sequence.tokens[-len(answer) :] == expected


def test_text_that_is_no_token_becomes_the_end(tokenizer: Any) -> None:
    assert look_up("", tokenizer) == tokenizer.eos_token_id


def test_an_id_outside_the_vocabulary_is_refused(tokenizer: Any) -> None:
    with pytest.raises(InputProblem, match="token id 99999 is not in the vocabulary"):
        tokenize([user("hi"), choice([99999])], None, tokenizer)


@pytest.mark.parametrize("logprob", [None, -math.inf])
def test_missing_logprob_is_unknown(tokenizer: Any, logprob: float | None) -> None:
    sequence = tokenize([user("hi"), choice([5, 6], logprob)], None, tokenizer)
    assert sequence is not None
    assert math.isnan(sequence.logprobs[-1])
    assert sequence.sampled[-1]


THINKING_TEMPLATE = """{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}
{%- if m.role == 'assistant' and loop.last and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}
{%- for call in m.tool_calls or [] %}
{%- for k, v in call.function.arguments|items %}{{ k }}={{ v }};{% endfor %}{% endfor %}
{{- m.content + '<|im_end|>\\n' }}{% endfor %}"""


def test_templates_that_think_and_walk_over_arguments(tokenizer: Any) -> None:
    thinking = copy.deepcopy(tokenizer)
    thinking.add_tokens(["<think>", "</think>"], special_tokens=True)
    thinking.add_tokens(["\n\n"])
    thinking.chat_template = THINKING_TEMPLATE
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}]
    context = [user("a"), {"role": "assistant", "content": "", "tool_calls": calls}, user("b")]
    text, _ = text_of(thinking, tokenize([*context, choice(ids(thinking, "c"))], None, thinking))
    assert "q=1;" in text
    assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nc")
    text, sampled = text_of(thinking, tokenize([*context, choice(ids(thinking, "<think>x</think>c"))], None, thinking))
    assert text.endswith("<|im_start|>assistant\n<think>x</think>c")
    assert sampled == ["<think>x</think>c"]


def test_a_template_that_changes_content_is_refused(tokenizer: Any) -> None:
    shouting = copy.deepcopy(tokenizer)
    shouting.chat_template = "{% for m in messages %}{{ m.content | upper }}{% endfor %}"
    with pytest.raises(InputProblem, match=r"\[1\]: the chat template does not print its content"):
        tokenize([user("hi"), choice([5])], None, shouting)


# ---- assistant turns as text ----

CALLS = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}]
TALK: list[Json] = [
    user("one"),
    {"role": "assistant", "content": "1"},
    user("call"),
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "r"},
    {"role": "assistant", "content": "done"},
    user("never answered"),
]
SAID = ["1<|im_end|>", '<tool_call>\n{"name": "look", "arguments": {"q": 1}}\n</tool_call><|im_end|>', "done<|im_end|>"]


def without_markers(tokenizer: Any) -> Any:
    """The same template with nothing that says where the assistant speaks."""
    unmarked = copy.deepcopy(tokenizer)
    for word in ("generation", "endgeneration"):
        unmarked.chat_template = unmarked.chat_template.replace("{%- " + word + " -%}", "")
    assert "generation -%" not in unmarked.chat_template
    return unmarked


def test_all_assistant_turns_are_taught(tokenizer: Any) -> None:
    text, sampled = text_of(tokenizer, tokenize_taught(TALK, None, tokenizer))
    assert sampled == SAID
    assert text == tokenizer.apply_chat_template(TALK, tokenize=False)


def test_without_markers_the_same_tokens_are_taught(tokenizer: Any) -> None:
    marked, found = (tokenize_taught(TALK, None, one) for one in (tokenizer, without_markers(tokenizer)))
    assert marked is not None and found is not None
    assert text_of(tokenizer, found)[1] == SAID
    assert found.tokens == marked.tokens[: len(found)]
    assert found.sampled == marked.sampled[: len(found)]


LLAMA_LIKE = """<s>{%- for m in messages %}{{ '[' + m.role + ']' + m.content | trim }}
{%- for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{{ '\n<|im_end|>' }}{% endfor %}"""


def test_a_template_that_trims_and_ends_turns_late(tokenizer: Any) -> None:
    trimming = copy.deepcopy(tokenizer)
    trimming.chat_template = LLAMA_LIKE
    talk = [user("a"), {"role": "assistant", "content": " b "}, user("c"), {"role": "assistant", "content": "d"}]
    text, sampled = text_of(trimming, tokenize_taught(talk, None, trimming))
    assert sampled == ["b\n<|im_end|>", "d\n<|im_end|>"]
    assert text == "<s>[user]a\n<|im_end|>[assistant]b\n<|im_end|>[user]c\n<|im_end|>[assistant]d\n<|im_end|>"


def test_choices_are_taught_as_text(tokenizer: Any) -> None:
    answered = [user("hi"), choice([5, 6, 7], content="4")]
    assert text_of(tokenizer, tokenize_taught(answered, None, tokenizer))[1] == ["4<|im_end|>"]


def test_nothing_to_teach(tokenizer: Any) -> None:
    assert tokenize_taught([user("hi")], None, tokenizer) is None
    assert tokenize_taught([], None, tokenizer) is None


def test_turns_without_logprobs_are_trained_when_asked(tokenizer: Any) -> None:
    answer = ids(tokenizer, "2<|im_end|>")
    bare: Json = {**choice([], content="3"), "logprobs": None}
    elements = [
        user("one"),
        {"role": "assistant", "content": "1"},
        user("two"),
        choice(answer),
        user("three"),
        bare,
        user("four"),
        {**bare, "token_ids": [7, 5, 9]},
    ]
    sequence = tokenize(elements, None, tokenizer, without_logprobs=True)
    text, sampled = text_of(tokenizer, sequence)
    assert sampled == ["1<|im_end|>", "2<|im_end|>", "3<|im_end|>", tokenizer.decode([7, 5, 9])]
    said = [user("one"), "1", user("two"), "2", user("three"), "3", user("four"), sampled[-1]]
    messages = [{"role": "assistant", "content": turn} if isinstance(turn, str) else turn for turn in said]
    assert text + "<|im_end|>\n" == tokenizer.apply_chat_template(messages, tokenize=False)
    assert sequence is not None
    known = [not math.isnan(p) for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if s]
    assert known == [False] * len(answer) + [True] * len(answer) + [False] * (len(answer) + 3)


# ---- what the gateway notes ----


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"step": 3, "biased_by": ["top_p", "temperature"]}, Turn(2, 3, ("temperature", "top_p"))),
        ({"step": 3, "biased_by": ["Top P", 7, "", "x" * 3]}, Turn(2, 3, ("xxx",))),
        ({"step": "3"}, Turn(2, 1)),
        ({"step": True, "biased_by": None}, Turn(2, 1)),
        ("step 3", Turn(2, 1)),
        (None, Turn(2, 1)),
    ],
)
def test_the_policy_of_a_turn(tokenizer: Any, policy: Any, expected: Turn) -> None:
    sequence = tokenize([user("hi"), {**choice([5, 6]), "policy": policy}], None, tokenizer, step=1)
    assert sequence is not None
    assert sequence.turns == [expected]
