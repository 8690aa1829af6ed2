"""Answers that are taught as text, under real chat templates: each turn once, after the prompt that vLLM would make."""

import copy
import re
from typing import Any, cast

import pytest
from examples import Json, choice, stretches_of, user
from templates import TEMPLATES, text_of, with_template
from test_template import SYSTEM, TOOLS, answer, call, result
from vllm_prompts import vllm_ids

from engine.trainer.chat import Sequence, num_without_reasoning
from engine.trainer.errors import InputProblem
from engine.trainer.taught import tokenize_taught
from engine.trainer.turns import trained_turns

THOUGHT = "<think>\nwhy\n</think>\n\nBlue."
LESSONS: dict[str, list[Json]] = {
    "plain": [user("a"), answer("Blue.")],
    "system": [SYSTEM, user("a"), answer("Blue.")],
    "system and a call": [SYSTEM, user("a"), answer(None, call("add", '{"b": 1.5}'))],
    "several turns": [SYSTEM, user("a"), answer("Blue."), user("b"), answer("Green."), user("c"), answer("Red.")],
    "a thought": [user("a"), answer(THOUGHT)],
    "thoughts": [user("a"), answer(THOUGHT), user("b"), answer(THOUGHT.replace("Blue", "Red"))],
    "reasoning": [user("a"), answer("Blue.", reasoning="why"), user("b"), answer("Red.", reasoning="so")],
    "calls": [user("a"), answer(None, call("add", '{"b": 1.5}')), result("3"), answer("Blue.")],
    "calls that the text speaks of": [user("a"), answer("Let me add.", call("add", '{"b": 1.5}')), result("3")],
    "a begun thought": [user("a"), answer("why\n</think>\n\nBlue.")],
}
THOUGHTS = ("a thought", "thoughts", "reasoning", "a begun thought")
NO_CALLS = (
    *"deepseek-r1-distill devstral gemma-like granite-3.3 mistral-7b-v0.3 mistral-small-3 mixtral-8x7b olmo-2".split(),
    *"phi-3 phi-3.5 phi-4 phi-4-mini phi-4-reasoning smollm2".split(),
)
CALLS = ("calls", "calls that the text speaks of", "system and a call")
# What is refused, by which words. Roles that must alternate, no tool messages, no calls in the template's text.
STRICT = "chat template does not take it"
SILENT = "does not print this turn's call of 'add'"
JOINED = "another shape than a chat completion's messages"  # vLLM refuses the prompt with the same error
REFUSED = {
    **{(name, lesson): JOINED for name in "deepseek-v3.1 gpt-oss".split() for lesson in CALLS},
    **{(name, lesson): SILENT for name in NO_CALLS for lesson in CALLS},
    **{("mistral-7b-v0.3", lesson): STRICT for lesson in ("several turns", "system", "system and a call")},
}
# They print a thought that is a member of the message.
WITH_REASONING = "deepseek-r1-distill glm-4.5 qwen3 qwen3-next qwen3.5 qwen3.5-nothink qwen3.6 qwq".split()


def taught(tokenizer: Any, name: str, lesson: str) -> list[Sequence]:
    changed = with_template(tokenizer, text_of(name))
    return tokenize_taught(LESSONS[lesson], TOOLS if lesson in CALLS else None, changed)


def has_thought(name: str, lesson: str) -> bool:
    if lesson == "reasoning":
        return name in WITH_REASONING
    # DeepSeek V3.1 removes thoughts, and its prompt opens one only when thinking is on.
    return lesson in ("a thought", "thoughts", "a begun thought") and name != "deepseek-v3.1"


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_every_answer_is_taught_once(tokenizer: Any, name: str, lesson: str) -> None:
    if words := REFUSED.get((name, lesson)):
        with pytest.raises(InputProblem, match=words):
            taught(tokenizer, name, lesson)
        return
    changed = with_template(tokenizer, text_of(name))
    found = taught(tokenizer, name, lesson)
    left_out = any(turn.leaves_out_reasoning for sequence in found for turn in sequence.turns)
    assert left_out == (lesson in THOUGHTS and not has_thought(name, lesson))
    stretches = [text for sequence in found for text in stretches_of(changed, sequence)]
    answers = [message for message in LESSONS[lesson] if message["role"] == "assistant"]
    assert len(stretches) == len(answers)
    for text, said in zip(stretches, answers, strict=True):
        # Some templates print a call in place of the text.
        its_text = "" if "tool_calls" in said and name in ("llama-like", "mistral-nemo-like") else said["content"] or ""
        words = its_text.rpartition("</think>")[2].strip() or "add"
        assert text.count(words) == 1
        if has_thought(name, lesson):
            assert ("why" in text) != ("so" in text)
        if "tool_calls" in said:
            assert "1.5" in text
        if lesson not in CALLS and name != "glm-4.5":
            assert text.rpartition(words)[2].strip() in {str(token) for token in changed.added_tokens_decoder.values()}


@pytest.mark.parametrize("lesson", ["system", "several turns", "thoughts", "calls", "system and a call"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_taught_follows_the_prompt_of_vllm(tokenizer: Any, name: str, lesson: str) -> None:
    if (name, lesson) in REFUSED:
        return
    changed = with_template(tokenizer, text_of(name))
    tools: Json = {"tools": TOOLS} if lesson in CALLS else {}
    prompts = [
        vllm_ids(changed, messages=copy.deepcopy(LESSONS[lesson][:index]), **copy.deepcopy(tools))
        for index, message in enumerate(LESSONS[lesson])
        if message["role"] == "assistant"
    ]
    found = taught(tokenizer, name, lesson)
    for prompt in prompts:
        following = [
            sequence.sampled[len(prompt)]
            for sequence in found
            if sequence.tokens[: len(prompt)] == prompt and len(sequence) > len(prompt)
        ]
        # Not where a prompt opens a thought and the answer has none, or the other way round.
        differs = name in ("qwq", "deepseek-r1-distill") and lesson != "thoughts"
        differs |= (name, lesson) == ("qwen3.5-nothink", "thoughts")
        assert any(following) != differs


def thought(before: str, text: str) -> str:
    return f"<think>\n{before}\n</think>\n\n{text}"


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        # Its template prints an empty thought in the last turn alone.
        ("qwen3", ("One.", "Two."), ["<think>\n\n</think>\n\nOne.", "<think>\n\n</think>\n\nTwo."]),
        ("olmo-2", (thought("so", "One."), thought("why", "Two.")), [thought("so", "One."), thought("why", "Two.")]),
        ("qwq", (thought("so", "One."), thought("why", "Two.")), ["so\n</think>\n\nOne.", "why\n</think>\n\nTwo."]),
    ],
)
def test_two_answers_in_a_row_are_two_turns(
    tokenizer: Any, name: str, texts: tuple[str, str], expected: list[str]
) -> None:
    """A header between them, or an earlier answer that is context, is not taught."""
    changed = with_template(tokenizer, text_of(name))
    first, second = (answer(text) for text in texts)
    lessons = (
        (tokenize_taught([user("a"), first, second], None, changed), expected),
        (tokenize_taught([user("a"), {**first, "weight": 0}, second], None, changed), expected[1:]),
    )
    for found, wanted in lessons:
        stretches = [text for sequence in found for text in stretches_of(changed, sequence)]
        assert [re.sub(r"<\|(im_end|endoftext)\|>$", "", text) for text in stretches] == wanted
    choices = [{**choice([], content=text), "logprobs": None} for text in texts]
    for turn, text in zip(
        trained_turns([user("a"), *choices], None, changed, without_logprobs=True), expected, strict=True
    ):
        assert changed.decode(turn.ids).startswith(text)


@pytest.mark.parametrize("name", ["deepseek-r1-distill", "qwq"])
def test_a_reply_that_begins_inside_a_thought_is_taught_as_it_was_sampled(tokenizer: Any, name: str) -> None:
    changed = with_template(tokenizer, text_of(name))
    (begun,) = tokenize_taught(LESSONS["a begun thought"], None, changed)
    (whole,) = tokenize_taught(LESSONS["a thought"], None, changed)
    assert (begun.tokens, begun.sampled) == (whole.tokens, whole.sampled)
    (text,) = stretches_of(changed, begun)
    assert text.startswith("why\n</think>\n\nBlue.")
    prompt = vllm_ids(changed, messages=[user("a")])
    assert begun.tokens[: len(prompt)] == prompt
    assert begun.sampled.index(True) == len(prompt)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (answer(None, call("add", '{"b": 1.5}'), reasoning="why"), "why\n</think>\n\n"),
        (answer("Let me add.", call("add", '{"b": 1.5}'), reasoning="why"), "why\n</think>\n\nLet me add.\n"),
        (answer("why\n</think>\n\nLet me add.", call("add", '{"b": 1.5}')), "why\n</think>\n\nLet me add.\n"),
    ],
)
def test_a_thought_before_a_call_is_taught_with_the_call(tokenizer: Any, said: Json, expected: str) -> None:
    changed = with_template(tokenizer, text_of("qwq"))
    (sequence,) = tokenize_taught([user("a"), said], TOOLS, changed)
    (text,) = stretches_of(changed, sequence)
    assert text == expected + '<tool_call>\n{"name": "add", "arguments": {"b": 1.5}}\n</tool_call><|im_end|>'
    assert changed.decode(sequence.tokens).endswith("<|im_start|>assistant\n<think>\n" + text)


@pytest.mark.parametrize("name", ["loom-tiny", "qwen3", "qwen2.5"])
def test_a_call_with_broken_arguments_is_refused(tokenizer: Any, name: str) -> None:
    """It is printed with none, as vLLM does it. Context may be so."""
    changed = tokenizer if name == "loom-tiny" else with_template(tokenizer, text_of(name))
    for broken in ('{"b": 1', "[1]", " ", "5", [1]):
        said = answer(None, call("add", broken))
        with pytest.raises(
            InputProblem, match=r"^\[1\]: the arguments of this turn's call of 'add' are no JSON object"
        ):
            tokenize_taught([user("a"), said], TOOLS, changed)
        context = [user("a"), {**said, "weight": 0}, result("3"), answer("Blue.")]
        (sequence,) = tokenize_taught(context, TOOLS, changed)
        assert '{"name": "add", "arguments": {}}' in changed.decode(sequence.tokens)
    empty: list[Any] = ["", None, {}, "{}"]
    for without in empty:
        (sequence,) = tokenize_taught([user("a"), answer(None, call("add", without))], TOOLS, changed)
        assert '{"name": "add", "arguments": {}}' in stretches_of(changed, sequence)[0]


@pytest.mark.parametrize("name", ["loom-tiny", "qwen3"])
def test_a_call_in_its_older_form_is_refused(tokenizer: Any, name: str) -> None:
    """It would be taught as an empty turn. In context it is left out, as vLLM does it."""
    changed = tokenizer if name == "loom-tiny" else with_template(tokenizer, text_of(name))
    older = answer(None, function_call={"name": "add", "arguments": "{}"})
    with pytest.raises(InputProblem, match=r"^\[1\]: this turn's function_call is not printed: .* tool_calls"):
        tokenize_taught([user("a"), older], None, changed)
    said = {**choice([]), "message": older, "logprobs": None}
    with pytest.raises(InputProblem, match=r"^\[1\]: this turn's function_call is not printed"):
        trained_turns([user("a"), said], None, changed, without_logprobs=True)
    context = [user("a"), {**older, "weight": 0}, user("b"), answer("Blue.", function_call=None)]
    assert len(tokenize_taught(context, None, changed)) == 1


@pytest.mark.parametrize("name", ["loom-tiny", "gpt-oss"])
def test_reasoning_that_is_not_printed_is_noticed(tokenizer: Any, name: str) -> None:
    """Also where its words are in the text, and in a taught turn alone."""
    changed = tokenizer if name == "loom-tiny" else with_template(tokenizer, text_of(name))
    thinking, plain = answer("Blue is why.", reasoning="why"), answer("Blue.")
    lessons = [
        ([user("a"), thinking, user("b"), plain], "all", True),
        ([user("a"), thinking, user("b"), plain], "last", False),
        ([user("a"), {**thinking, "weight": 0}, user("b"), plain], "all", False),
        ([user("a"), answer("Blue.", reasoning="")], "all", False),
    ]
    for lesson, turns, expected in lessons:
        found = tokenize_taught(lesson, None, changed, cast(Any, turns))
        assert num_without_reasoning(found) == expected


def test_the_last_turn_alone(tokenizer: Any) -> None:
    """In the context that it is asked for in, also where that does not begin with the turns before."""
    changed = with_template(tokenizer, text_of("qwen3"))
    (sequence,) = tokenize_taught(LESSONS["thoughts"], None, changed, "last")
    assert stretches_of(changed, sequence) == [THOUGHT.replace("Blue", "Red") + "<|im_end|>"]
    assert changed.decode(sequence.tokens).startswith("<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\nBlue.")


def test_an_answer_without_a_question(tokenizer: Any) -> None:
    """There is no prompt of no messages."""
    for name in ("qwen3", "llama-like"):
        changed = with_template(tokenizer, text_of(name))
        found = tokenize_taught([answer("Blue."), user("a")], None, changed)
        assert [stretch.count("Blue.") for sequence in found for stretch in stretches_of(changed, sequence)] == [1]


def test_a_call_that_a_template_with_markers_leaves_out_is_refused(tokenizer: Any) -> None:
    """Also where this or another turn has the name of the function as a word."""
    silent = copy.deepcopy(tokenizer)
    silent.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}"
        "{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}"
    )
    lesson = [user("a"), answer("I add."), user("b"), answer("Let me add.", call("add", '{"b": 1.5}'))]
    with pytest.raises(InputProblem, match=rf"^\[3\]: .*{SILENT}"):
        tokenize_taught(lesson, None, silent)
    assert [len(tokenize_taught(lesson[:2], None, one)) for one in (silent, tokenizer)] == [1, 1]
    assert len(tokenize_taught(lesson, TOOLS, tokenizer)) == 1


@pytest.mark.parametrize("name", ["loom-tiny", "qwen3", "llama-like"])
def test_an_answer_of_weight_0_is_context_alone(tokenizer: Any, name: str) -> None:
    """Both where the chat template marks what is taught and where it does not."""
    changed = tokenizer if name == "loom-tiny" else with_template(tokenizer, text_of(name))
    left_out = {**answer("Blue."), "weight": 0}
    lesson = [user("a"), left_out, user("b"), {**answer("Green."), "weight": 1}, user("c"), answer("Red.")]
    found = tokenize_taught(lesson, None, changed)
    stretches = [text for sequence in found for text in stretches_of(changed, sequence)]
    assert [next(word for word in ("Blue", "Green", "Red") if word in text) for text in stretches] == ["Green", "Red"]
    assert any("Blue." in changed.decode(sequence.tokens) for sequence in found)
    assert tokenize_taught([user("a"), left_out], None, changed) == []


@pytest.mark.parametrize("prefill", [None, "It is"])
def test_a_system_text_that_the_prompt_alone_shows_is_in_the_context(tokenizer: Any, prefill: str | None) -> None:
    """In RL too, where choices carry no ids."""
    changed = with_template(tokenizer, text_of("mistral-nemo-like"))
    talk = [SYSTEM, user("a"), answer("Blue."), user("b")]
    begun = [] if prefill is None else [answer(prefill)]
    said = {**choice([], content=" green."), "logprobs": None}
    *_, turn = trained_turns([*talk, *begun, said], None, changed, without_logprobs=True)
    how: Json = {} if prefill is None else {"add_generation_prompt": False, "continue_final_message": True}
    assert turn.prompt == vllm_ids(changed, messages=copy.deepcopy([*talk, *begun]), **how)
    assert changed.decode(turn.ids) == (" " if prefill is None else "") + " green.<|im_end|>"


@pytest.mark.parametrize(
    ("said", "expected"),
    [(THOUGHT, ("<think>\n", "why\n</think>\n\nBlue.<|im_end|>")), ("Blue.", ("", " Blue.<|im_end|>"))],
)
def test_a_prompt_that_shows_a_system_text_and_opens_a_thought(
    tokenizer: Any, said: str, expected: tuple[str, str]
) -> None:
    """An answer without a thought is taught as the template prints it, as under any template that opens one."""
    opening = "{%- if add_generation_prompt %}{{ '<think>\\n' }}{% endif %}"
    changed = with_template(tokenizer, text_of("mistral-nemo-like") + opening)
    (sequence,) = tokenize_taught([SYSTEM, user("a"), answer(said)], None, changed)
    assert stretches_of(changed, sequence) == [expected[1]]
    text = changed.decode(sequence.tokens)
    assert text == "<|im_start|>[INST] Be brief. \n\na[/INST]" + "".join(expected)


def test_a_header_that_is_nowhere_in_the_text_is_refused(tokenizer: Any) -> None:
    """Where the turn would begin in its prompt cannot be told."""
    opening = "{%- if add_generation_prompt %}{{ '[ANSWER]' }}{% endif %}"
    changed = with_template(tokenizer, text_of("mistral-nemo-like") + opening)
    with pytest.raises(InputProblem, match=r"^\[2\]: the chat template prints what comes before this turn differently"):
        tokenize_taught([SYSTEM, user("a"), answer("Blue.")], None, changed)
