import copy
import json
import math
from random import Random
from typing import Any

import pytest
import torch
from examples import Json, choice, group, rl_config, trajectory, user

from engine import data
from engine.chat import Sequence, look_up, tokenize
from engine.data import balance_and_rescale, group_advantages
from engine.errors import InputProblem
from engine.packing import pack, to_row


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


# ---- advantages ----


def test_advantages() -> None:
    assert group_advantages([1.0, 0.0, 0.0], scale=False) == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    deviation = math.sqrt(2) / 3 + 1e-6
    assert group_advantages([1.0, 0.0, 0.0], scale=True) == pytest.approx(
        [2 / 3 / deviation, *[-1 / 3 / deviation] * 2]
    )


@pytest.mark.parametrize("rewards", [[0.1] * 3, [0.3] * 3, [0.7] * 5, [1e6 + 0.1] * 3, [5.0], [0.1 + 0.2, 0.3]])
def test_rewards_that_differ_by_rounding_only_carry_nothing(rewards: list[float]) -> None:
    assert group_advantages(rewards, scale=True) == [0.0] * len(rewards)


def three_sequences() -> list[Sequence]:
    lengths_and_advantages = ((2, 2 / 3), (4, -1 / 3), (8, -1 / 3))
    return [Sequence([1] * n, [True] * n, [-1.0] * n, advantage=a, weight=1 / n) for n, a in lengths_and_advantages]


@pytest.mark.parametrize(
    ("balance", "expected"),
    [(0.0, [1.5, -0.75, -0.75]), (0.5, [2.0, -0.5, -0.5]), (1.0, [3.0, 0.0, 0.0]), (-1.0, [0.0, -1.5, -1.5])],
)
def test_advantages_are_balanced_and_rescaled_over_the_job(balance: float, expected: list[float]) -> None:
    sequences = three_sequences()
    balance_and_rescale(sequences, balance)
    assert [sequence.advantage for sequence in sequences] == pytest.approx(expected)
    # Every trajectory has the same total weight, and the mean weight of a token is 1.
    totals = [sequence.weight * len(sequence) for sequence in sequences]
    assert totals == pytest.approx([14 / 3] * 3)


# ---- tokenisation ----


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


# ---- groups and rows ----


def dataset_of(groups: list[Json], tokenizer: Any, limit: int = 2048) -> data.Dataset:
    dataset = data.Dataset()
    for one in groups:
        data.add_group(dataset, json.dumps(one).encode(), tokenizer, rl_config(), limit)
    return dataset


def test_additional_histories_share_the_advantage_and_the_weight(tokenizer: Any) -> None:
    more = [{"messages_and_choices": [user("x"), choice([5] * 3)], "tools": None}]
    trajectories = [
        trajectory([user("hi"), choice([6] * 5)], 1.0, additional_histories=more),
        trajectory([user("hi"), choice([7] * 2)], 0.0, start_time="ignored"),
    ]
    (sequences,) = dataset_of([group(trajectories)], tokenizer).sequences_by_group
    assert [(s.trajectory, s.num_sampled) for s in sequences] == [((1, 0), 5), ((1, 0), 3), ((1, 1), 2)]
    assert [s.weight for s in sequences] == pytest.approx([1 / 8, 1 / 8, 1 / 2], rel=1e-5)
    assert [s.advantage for s in sequences] == pytest.approx([1, 1, -1], rel=1e-5)


def test_what_groups_count(tokenizer: Any) -> None:
    def attempt(reward: float, length: int = 2) -> Json:
        return trajectory([user("hi"), choice([6] * length)], reward)

    untrainable = trajectory([user("hi"), {"role": "assistant", "content": "a"}], 1.0)
    groups = [
        group([attempt(1.0), attempt(0.0)]),
        group([attempt(1.0), attempt(1.0)]),
        group([untrainable, {**untrainable, "reward": 0.0}]),
        group([attempt(1.0)]),
        group([]),
        group([attempt(1.0, 100), attempt(0.0)]),
    ]
    dataset = dataset_of(groups, tokenizer, limit=50)
    metrics = dataset.metrics()
    assert metrics["num_groups_submitted"] == 6
    assert metrics["num_groups_trainable"] == 2
    assert metrics["num_sequences_too_long"] == 1
    assert metrics["reward"] == pytest.approx(6 / 9)
    assert metrics["reward_std_dev"] == pytest.approx(1.5 / 5)


def plain(length: int) -> Sequence:
    return Sequence(list(range(length)), [False] + [True] * (length - 1), [math.nan] + [-1.0] * (length - 1))


def test_rows_are_filled_in_a_seeded_order() -> None:
    groups = [[plain(length) for length in lengths] for lengths in ((30, 40), (50, 20, 10), (60,), (150,))]
    rows = pack(groups, 100, Random("0/0"))
    assert rows == pack(groups, 100, Random("0/0"))
    assert sorted(len(s) for row in rows for s in row) == [10, 20, 30, 40, 50, 60, 150]
    assert all(sum(map(len, row)) <= 100 or len(row) == 1 for row in rows)
    assert rows != pack(groups, 100, Random("0/1"))


def test_no_row_is_left_with_a_few_tokens() -> None:
    rows = pack([[plain(20) for _ in range(8)] for _ in range(13)], 1000, Random("0/0"))
    assert [sum(map(len, row)) for row in rows] == [700, 700, 680]


def test_a_row_lists_its_sampled_tokens_in_the_order_of_its_batches() -> None:
    sequences = [plain(length) for length in (5, 90, 3, 4)]
    for index, sequence in enumerate(sequences):
        sequence.trajectory, sequence.advantage, sequence.weight = (0, index // 2), float(index), 1.0
    row = to_row(sequences, 100, torch.device("cpu"))
    assert [tuple(batch.tokens_BT.shape) for batch in row.batches] == [(3, 5), (1, 90)]
    predicted = torch.cat([batch.tokens_BT.roll(-1, 1)[batch.predicts_BT] for batch in row.batches])
    assert row.tokens_N.tolist() == predicted.tolist()
    assert row.sequence_N.tolist() == [0] * 2 + [1] * 3 + [2] * 4 + [3] * 89
    assert row.advantages_N.tolist() == [2.0] * 2 + [3.0] * 3 + [0.0] * 4 + [1.0] * 89
    assert row.num_trajectories == 2
