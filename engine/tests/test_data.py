"""Trajectory groups to advantages and weights."""

import copy
import json
import math
from typing import Any

import pytest
from examples import Json, choice, group, rl_config, trajectory, user

from engine.trainer import data
from engine.trainer.chat import Sequence
from engine.trainer.data import balance_and_rescale, group_advantages
from engine.trainer.errors import InputProblem

NUM_EMBEDDINGS = 1600  # of a model that has more than its tokenizer has tokens


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


def dataset_of(groups: list[Json], tokenizer: Any, limit: int = 2048, **config: Any) -> data.Dataset:
    dataset = data.Dataset()
    for one in groups:
        line = json.dumps(one).encode()
        data.add_group(
            dataset, line, tokenizer, rl_config(**config), num_positions=limit, num_embeddings=NUM_EMBEDDINGS
        )
    return dataset


def test_additional_histories_share_the_advantage_and_the_weight(tokenizer: Any) -> None:
    more = [{"messages_and_choices": [user("x"), choice([5] * 3)], "tools": None}]
    trajectories = [
        trajectory([user("hi"), choice([6] * 5)], 1.0, additional_histories=more),
        trajectory([user("hi"), choice([7] * 2)], 0.0, start_time="ignored"),
    ]
    (sequences,) = dataset_of([group(trajectories)], tokenizer).sequences_by_group
    assert [(s.trajectory, s.num_sampled) for s in sequences] == [((0, 0), 5), ((0, 0), 3), ((0, 1), 2)]
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
    assert metrics["num_dropped_trajectories"] == 3
    assert metrics["reward"] == pytest.approx(6 / 9)
    assert metrics["reward_std_dev"] == pytest.approx(1.5 / 5)


def test_ids_that_the_tokenizer_does_not_have_are_trained_on_where_the_model_has_them(tokenizer: Any) -> None:
    """vLLM samples among all rows of the embedding. What is beyond them is left out, and not the whole job."""
    beyond_tokenizer, last = len(tokenizer), NUM_EMBEDDINGS - 1
    context = {**choice([5]), "prompt_token_ids": [6, NUM_EMBEDDINGS]}
    kept = [[beyond_tokenizer, 5], [last], [6]]
    left_out = [[5, NUM_EMBEDDINGS], [2**32], [2**64], [-1]]
    turns = [*(choice(ids) for ids in [*kept, *left_out]), context]
    one = group([trajectory([user("a"), turn], float(index == 0)) for index, turn in enumerate(turns)])
    dataset = dataset_of([one, group([trajectory([user("a"), context], r) for r in (0.0, 1.0)])], tokenizer)
    (sequences,) = dataset.sequences_by_group
    sampled = [[token for token, flag in zip(one.tokens, one.sampled, strict=True) if flag] for one in sequences]
    assert sampled == kept
    assert dataset.metrics()["num_sequences_with_unknown_tokens"] == len(left_out) + 3
    assert dataset.metrics()["num_groups_trainable"] == 1


def test_ids_that_the_tokenizer_does_not_have_say_nothing_of_thoughts(tokenizer: Any) -> None:
    thinking = copy.deepcopy(tokenizer)
    thinking.chat_template += "{% if enable_thinking is defined %}off{% endif %}"
    one = group([trajectory([user("a"), choice([len(tokenizer), 2**40, 5])], r) for r in (0.0, 1.0)])
    assert dataset_of([one], thinking).metrics()["num_sequences_with_unknown_tokens"] == 2


@pytest.mark.parametrize("option", ["scale_rewards", "normalize_advantages"])
def test_either_option_turns_the_division_by_the_deviation_off(tokenizer: Any, option: str) -> None:
    one = group([trajectory([user("hi"), choice([6])], reward) for reward in (0.0, 0.5)])
    (sequences,) = dataset_of([one], tokenizer, **{option: False}).sequences_by_group
    assert [sequence.advantage for sequence in sequences] == [-0.25, 0.25]


def test_a_long_group_is_not_silent(tokenizer: Any) -> None:
    beats: list[None] = []
    turns = [user("a"), choice([6]), user("b"), choice([7])]
    line = json.dumps(group([trajectory(turns, reward) for reward in (0.0, 1.0)])).encode()
    sizes: Json = {"num_positions": 2048, "num_embeddings": NUM_EMBEDDINGS}
    data.add_group(data.Dataset(), line, tokenizer, rl_config(), **sizes, beat=lambda: beats.append(None))
    # Four turns are tokenised, and then joined to sequences.
    assert len(beats) == 8


def test_turns_know_their_step(tokenizer: Any) -> None:
    noted: Json = {**choice([6, 7], content=tokenizer.decode([6, 7])), "policy": {"step": 5, "biased_by": []}}
    one = group(
        [
            trajectory([user("a"), noted, user("b"), choice([8])], 1.0, initial_policy_version=4),
            trajectory([user("a"), choice([6])], 0.0),
        ]
    )
    (sequences,) = dataset_of([one], tokenizer).sequences_by_group
    assert [[turn.step for turn in sequence.turns] for sequence in sequences] == [[5, 4], [None]]


@pytest.mark.parametrize("reward", [1e308, -1e308, 1.1e100])
def test_a_reward_that_no_mean_could_be_computed_of(tokenizer: Any, reward: float) -> None:
    one = group([trajectory([user("a"), choice([6])], given) for given in (0.0, reward, reward)])
    with pytest.raises(InputProblem, match=r"trajectory_groups\[0\]\.trajectories\[1\]: the reward .* 1e\+100"):
        dataset_of([one], tokenizer)


def added(tokenizer: Any, line: str) -> data.Dataset:
    dataset = data.Dataset()
    data.add_group(dataset, line.encode(), tokenizer, rl_config(), num_positions=2048, num_embeddings=NUM_EMBEDDINGS)
    return dataset


def test_numbers_of_any_length_are_read(tokenizer: Any) -> None:
    """Python reads no integer of more than 4,300 digits by itself."""
    attempts = [trajectory([user("a"), choice([6])], reward, metadata={"n": -7}) for reward in (0.0, 1.0)]
    line = json.dumps(group(attempts))
    (sequences,) = added(tokenizer, line.replace("-7", "9" * 5_000)).sequences_by_group
    assert [sequence.tokens[-1] for sequence in sequences] == [6, 6]
    with pytest.raises(
        InputProblem, match=r"trajectory_groups\[0\]\.trajectories\[1\]: the reward inf is not a finite"
    ):
        added(tokenizer, line.replace('"reward": 1.0', f'"reward": {"9" * 5_000}'))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 5_000 + "]" * 5_000, "it is nested too deeply"),
        ('{"trajectories": [}', "it is not JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tokenizer: Any, line: str, message: str) -> None:
    with pytest.raises(InputProblem, match=rf"trajectory_groups\[0\]: {message}"):
        added(tokenizer, line)


def broken(**changes: Any) -> Json:
    turn = choice([6, 7])
    turn["logprobs"]["content"][1] |= changes
    return turn


AT = r"trajectory_groups\[0\]\.trajectories\[1\]"


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        (
            [user("a"), broken(logprob="-1")],
            AT + r"\.messages_and_choices\[1\]\.logprobs.content\[1\]: .*'-1' is no number",
        ),
        ([user("a"), broken(logprob={"a": 1})], r"content\[1\]: the logprob \{'a': 1\} is no number"),
        ([user("a"), broken(logprob=True)], "True is no number"),
        ([user("a"), broken(token=None)], "the token None is no text"),
        ([user("a"), {**choice([6]), "logprobs": "yes"}], r"messages_and_choices\[1\]\.logprobs: 'yes' is no object"),
        ([user("a"), {**choice([6]), "logprobs": {"content": {"a": 1}}}], "is no list of tokens"),
        ([user("a"), {**choice([6]), "logprobs": {"content": [None]}}], r"content\[0\]: None is no object"),
        ([user("a"), None], r"messages_and_choices\[1\]: None is no object"),
        ([{"content": "a"}, choice([6])], AT),
        ([{**user("a"), "content": 5}, choice([6])], r"choices\[0\]\.content: it is neither a text nor a list"),
        ([{**user("a"), "content": {"a": 1}}, choice([6])], r"choices\[0\]\.content: it is neither a text nor a list"),
        ([{**user("a"), "content": [5]}, choice([6])], r"choices\[0\]\.content\[0\]: it is no content part"),
        ([user("a\ud800"), choice([6])], r"choices\[0\]\.content: it has a surrogate without its other half"),
        (
            [{**user("a"), "content": [{"type": "text", "text": "\udfff"}]}, choice([6])],
            r"choices\[0\]\.content\[0\]\.text: it has a surrogate",
        ),
        *(
            ([user("a"), {**choice(ids), "token_ids": others}], AT + r".*\[1\]: its token_ids and its log-prob")
            for ids, others in [([6], [6, 7]), ([6, 7], [7]), ([6, 7], [6, 8])]
        ),
        ("text", AT),
    ],
)
def test_what_is_wrong_and_where(tokenizer: Any, elements: Any, message: str) -> None:
    one = group([trajectory([user("a"), choice([6])], 1.0), trajectory(elements, 0.0)])
    with pytest.raises(InputProblem, match=message):
        dataset_of([one], tokenizer)
