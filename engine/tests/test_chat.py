"""Conversations to token ids: what is trained on, and what is context."""

import copy
import math
from typing import Any

import pytest
from examples import Json, choice, stretches_of, user

from engine.trainer.chat import Sequence, Turn, look_up
from engine.trainer.errors import InputProblem
from engine.trainer.sampled import sequences_of
from engine.trainer.taught import tokenize_taught
from engine.trainer.turns import trained_turns


def text_of(tokenizer: Any, sequence: Sequence | None) -> tuple[str, list[str]]:
    """The whole text, and the sampled stretches."""
    assert sequence is not None
    return tokenizer.decode(sequence.tokens), stretches_of(tokenizer, sequence)


def tokenize(elements: list[Json], tools: list[Json] | None, tokenizer: Any, **options: Any) -> Sequence | None:
    """The one sequence of a conversation; None where nothing is trained."""
    found = sequences_of([trained_turns(elements, tools, tokenizer, **options)])
    assert len(found) < 2
    return found[0] if found else None


def taught(elements: list[Json], tokenizer: Any) -> Sequence | None:
    found = tokenize_taught(elements, None, tokenizer)
    assert len(found) < 2
    return found[0] if found else None


def ids(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def said(tokenizer: Any, text: str) -> Json:
    """A choice with what it sampled and what its client reads."""
    return choice(ids(tokenizer, text), content=text.removesuffix("<|im_end|>"))


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


def test_several_turns_are_one_sequence(tokenizer: Any) -> None:
    elements = [
        user("one"),
        said(tokenizer, "1<|im_end|>"),
        user("two"),
        said(tokenizer, "2"),  # cut off: the template ends this turn
        user("three"),
        {"role": "assistant", "content": "not sampled"},
        user("four"),
        said(tokenizer, "4<|im_end|>"),
        user("never answered"),
    ]
    text, sampled = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert sampled == ["1<|im_end|>", "2", "4<|im_end|>"]
    plain = [user("one"), "1", user("two"), "2", user("three"), "not sampled", user("four"), "4"]
    messages = [{"role": "assistant", "content": turn} if isinstance(turn, str) else turn for turn in plain]
    assert text == tokenizer.apply_chat_template(messages, tokenize=False).removesuffix("\n")


def test_a_turn_that_is_sent_back_otherwise_is_context_as_it_was_sent(tokenizer: Any) -> None:
    """As a stop string leaves it: the prompt that followed was made of the text, not of the ids."""
    stopped = choice(ids(tokenizer, "one two"), content="one")
    turns = trained_turns([user("a"), stopped, user("b"), said(tokenizer, "c<|im_end|>")], None, tokenizer)
    first, second = sequences_of([turns])
    assert text_of(tokenizer, first)[0].endswith("<|im_start|>assistant\none two")
    text, sampled = text_of(tokenizer, second)
    assert "<|im_start|>assistant\none<|im_end|>\n" in text
    assert sampled == ["c<|im_end|>"]


def test_a_prefill_and_what_continues_it_are_one_turn(tokenizer: Any) -> None:
    prefill = {"role": "assistant", "content": "The answer"}
    elements = [user("a"), prefill, said(tokenizer, " is 7.<|im_end|>"), user("b"), said(tokenizer, "c<|im_end|>")]
    text, sampled = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert sampled == [" is 7.<|im_end|>", "c<|im_end|>"]
    assert text == (
        "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nThe answer is 7.<|im_end|>\n"
        "<|im_start|>user\nb<|im_end|>\n<|im_start|>assistant\nc<|im_end|>"
    )
    whole = [user("a"), {"role": "assistant", "content": "The answer is 7."}, user("b"), {**prefill, "content": "c"}]
    assert text_of(tokenizer, taught(elements, tokenizer))[1] == ["The answer is 7.<|im_end|>", "c<|im_end|>"]
    assert text_of(tokenizer, taught(elements, tokenizer)) == text_of(tokenizer, taught(whole, tokenizer))
    asked = {"exchange": {"request": {"continue_final_message": False}}}
    separate: list[Json] = [user("a"), prefill, elements[2] | asked]
    text, _ = text_of(tokenizer, tokenize(separate, None, tokenizer))
    assert text.endswith("<|im_start|>assistant\nThe answer<|im_end|>\n<|im_start|>assistant\n is 7.<|im_end|>")


def test_settings_of_a_recorded_request_reach_the_template(tokenizer: Any) -> None:
    telling = copy.deepcopy(tokenizer)
    telling.chat_template = "{{ mood }}|{{ documents }}|{{ messages[0].content }}:"
    request = {"chat_template_kwargs": {"mood": "good", "padding": "max_length"}, "documents": [{"text": "d"}]}
    asked = {**choice(ids(tokenizer, "c")), "exchange": {"request": request}}
    text, _ = text_of(tokenizer, tokenize([user("a"), asked], None, telling))
    assert text == "good|[{'text': 'd'}]|a:c"
    own = {**asked, "exchange": {"request": {"chat_template": "{% for m in range(9**9) %}{% endfor %}"}}}
    with pytest.raises(InputProblem, match=r"\[1\]: a chat template of the request's own is not rendered anew"):
        tokenize([user("a"), own], None, telling)


def test_a_middle_tool_call_is_printed_once(tokenizer: Any) -> None:
    call = '<tool_call>\n{"name": "look", "arguments": {"q": 1}}\n</tool_call><|im_end|>'
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}]
    elements = [
        user("see"),
        choice(ids(tokenizer, call), content=None, tool_calls=calls),
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        said(tokenizer, "done<|im_end|>"),
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
    parts = {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "text", "text": "this"}]}
    elements = [parts, {"role": "assistant", "content": None}, user("x"), choice(ids(tokenizer, "y<|im_end|>"))]
    text, _ = text_of(tokenizer, tokenize(elements, None, tokenizer))
    assert text.startswith("<|im_start|>user\nsee\nthis<|im_end|>\n<|im_start|>assistant\n<|im_end|>")


@pytest.mark.parametrize("known_ids", [True, False])
@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": ""}}, "image_url"),
        ({"type": "input_audio", "input_audio": {}}, "input_audio"),
        ({"video_url": {"url": ""}}, "video_url"),
    ],
)
def test_a_turn_after_an_image_is_refused(tokenizer: Any, part: Json, kind: str, known_ids: bool) -> None:
    """With the ids of its prompt as well: they say nothing of what is in the image."""
    seen = {"role": "user", "content": [{"type": "text", "text": "see"}, part]}
    answer = choice(ids(tokenizer, "y<|im_end|>")) | ({"prompt_token_ids": [5, 6, 7]} if known_ids else {})
    for elements in ([seen, answer], [seen, {"role": "assistant", "content": "ok"}, user("and?"), answer]):
        place = len(elements) - 1
        with pytest.raises(
            InputProblem, match=rf"\[{place}\]: a message before it has a content part of type '{kind}'"
        ):
            tokenize(elements, None, tokenizer)


def test_an_image_after_the_last_trained_turn_is_not_read(tokenizer: Any) -> None:
    seen = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": ""}}]}
    unsampled = {**choice([], content="nice"), "logprobs": None}
    answer = {**choice(ids(tokenizer, "y<|im_end|>")), "prompt_token_ids": [5, 6, 7]}
    parts = {"role": "user", "content": ["a", {"type": "input_text", "text": "b"}, {"text": "c"}]}
    sequence = tokenize([parts, answer, seen, unsampled], None, tokenizer)
    assert sequence is not None
    assert sequence.tokens[:3] == [5, 6, 7]


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
    of_first_chunk = {**as_text, "token_ids": answer[:1]}
    for turn, expected in ((as_text, answer), (both, both["token_ids"]), (of_first_chunk, answer)):
        sequence = tokenize([user("hi"), turn], None, tokenizer)
        assert sequence is not None
        assert sequence.tokens[-len(answer) :] == expected


def test_text_that_is_no_token_becomes_the_end(tokenizer: Any) -> None:
    assert look_up("", tokenizer) == tokenizer.eos_token_id


@pytest.mark.parametrize("logprob", [None, -math.inf])
def test_missing_logprob_is_unknown(tokenizer: Any, logprob: float | None) -> None:
    sequence = tokenize([user("hi"), choice([5, 6], logprob)], None, tokenizer)
    assert sequence is not None
    assert math.isnan(sequence.logprobs[-1])
    assert sequence.sampled[-1]


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
    text, sampled = text_of(tokenizer, taught(TALK, tokenizer))
    assert sampled == SAID
    assert text == tokenizer.apply_chat_template(TALK, tokenize=False)


def test_without_markers_the_same_tokens_are_taught(tokenizer: Any) -> None:
    marked, found = (taught(TALK, one) for one in (tokenizer, without_markers(tokenizer)))
    assert marked is not None and found is not None
    assert text_of(tokenizer, found)[1] == SAID
    assert found.tokens == marked.tokens[: len(found)]
    assert found.sampled == marked.sampled[: len(found)]


LLAMA_LIKE = """<s>{%- for m in messages %}{{ '[' + m.role + ']' + m.content | trim }}
{%- for c in m.tool_calls or [] %}{{ c.function.name }}{% endfor %}{{ '\n<|im_end|>' }}{% endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}"""


def test_a_template_that_trims_and_ends_turns_late(tokenizer: Any) -> None:
    trimming = copy.deepcopy(tokenizer)
    trimming.chat_template = LLAMA_LIKE
    talk = [user("a"), {"role": "assistant", "content": " b "}, user("c"), {"role": "assistant", "content": "d"}]
    text, sampled = text_of(trimming, taught(talk, trimming))
    assert sampled == ["b\n<|im_end|>", "d\n<|im_end|>"]
    assert text == "<s>[user]a\n<|im_end|>[assistant]b\n<|im_end|>[user]c\n<|im_end|>[assistant]d\n<|im_end|>"


def test_choices_are_taught_as_text(tokenizer: Any) -> None:
    answered = [user("hi"), choice([5, 6, 7], content="4")]
    assert text_of(tokenizer, taught(answered, tokenizer))[1] == ["4<|im_end|>"]


def test_nothing_to_teach(tokenizer: Any) -> None:
    assert taught([user("hi")], tokenizer) is None
    assert taught([], tokenizer) is None


def test_turns_without_logprobs_are_trained_when_asked(tokenizer: Any) -> None:
    answer = ids(tokenizer, "2<|im_end|>")
    bare: Json = {**choice([], content="3"), "logprobs": None}
    elements = [
        user("one"),
        {"role": "assistant", "content": "1"},
        user("two"),
        said(tokenizer, "2<|im_end|>"),
        user("three"),
        bare,
        user("four"),
        {**bare, "token_ids": [7, 5, 9]},
    ]
    sequence = tokenize(elements, None, tokenizer, without_logprobs=True)
    text, sampled = text_of(tokenizer, sequence)
    assert sampled == ["1<|im_end|>", "2<|im_end|>", "3<|im_end|>", tokenizer.decode([7, 5, 9])]
    spoken = [user("one"), "1", user("two"), "2", user("three"), "3", user("four"), sampled[-1]]
    messages = [{"role": "assistant", "content": turn} if isinstance(turn, str) else turn for turn in spoken]
    assert text + "<|im_end|>\n" == tokenizer.apply_chat_template(messages, tokenize=False)
    assert sequence is not None
    known = [not math.isnan(p) for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if s]
    assert known == [False] * len(answer) + [True] * len(answer) + [False] * (len(answer) + 3)


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
