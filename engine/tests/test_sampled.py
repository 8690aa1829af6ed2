"""Sequences of exactly the ids that were sampled, each in the context of its own prompt."""

import math
from typing import Any, cast

import pytest
from examples import Json, choice, rl_config, user

from engine.trainer.chat import Sequence, Turn
from engine.trainer.data import tokenize_trajectory
from engine.trainer.errors import InputProblem
from engine.trainer.sampled import add_turn
from engine.trainer.turns import SampledTurn


def sampled(prompt: list[int], ids: list[int], **more: Any) -> Json:
    return {**choice(ids), "prompt_token_ids": prompt, **more}


def sequences(tokenizer: Any, *histories: list[Json], model: str | None = None, **config: Any) -> list[Sequence]:
    main, *others = histories
    trajectory: Json = {
        "messages_and_choices": main,
        "additional_histories": [{"messages_and_choices": other} for other in others],
    }
    return tokenize_trajectory(trajectory, tokenizer, rl_config(**config), model=model)


def shown(sequence: Sequence) -> tuple[list[int], list[int]]:
    return sequence.tokens, [token for token, flag in zip(sequence.tokens, sequence.sampled, strict=True) if flag]


def test_turns_whose_prompts_extend_each_other_are_one_sequence(tokenizer: Any) -> None:
    history = [user("a"), sampled([1, 2], [3, 4]), user("b"), sampled([1, 2, 3, 4, 5], [6])]
    (sequence,) = sequences(tokenizer, history)
    assert shown(sequence) == ([1, 2, 3, 4, 5, 6], [3, 4, 6])
    assert [p for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if s] == [-0.5, -0.5, -0.5]
    assert all(math.isnan(p) for p, s in zip(sequence.logprobs, sequence.sampled, strict=True) if not s)
    assert [turn.num_tokens for turn in sequence.turns] == [2, 1]
    assert not any(turn.rebuilt_context for turn in sequence.turns)


def test_a_prompt_that_does_not_extend_begins_a_sequence_and_earlier_ids_are_context_there(tokenizer: Any) -> None:
    """As a template that strips reasoning prints it: the second prompt holds a part of the first answer only."""
    history = [user("a"), sampled([1, 2], [3, 4, 5]), user("b"), sampled([1, 2, 5, 6], [7])]
    first, second = sequences(tokenizer, history)
    assert shown(first) == ([1, 2, 3, 4, 5], [3, 4, 5])
    assert shown(second) == ([1, 2, 5, 6, 7], [7])


def test_the_longest_sequence_is_extended(tokenizer: Any) -> None:
    """Two agents take turns, and a rollback continues from an early turn."""
    history = [
        user("a"),
        sampled([1], [2]),
        sampled([9], [8]),
        sampled([1, 2, 3], [4]),
        sampled([9, 8, 7], [6]),
        sampled([1], [5]),
    ]
    assert [shown(sequence) for sequence in sequences(tokenizer, history)] == [
        ([1, 2, 3, 4], [2, 4]),
        ([9, 8, 7, 6], [8, 6]),
        ([1, 5], [5]),
    ]


def test_a_turn_that_histories_share_is_trained_on_once(tokenizer: Any) -> None:
    shared = sampled([1], [2])
    found = sequences(
        tokenizer,
        [user("a"), shared, user("b"), sampled([1, 2, 3], [4])],
        [user("a"), shared, user("c"), sampled([1, 2, 5], [6])],
    )
    assert [shown(sequence) for sequence in found] == [([1, 2, 3, 4], [2, 4]), ([1, 2, 5, 6], [6])]


def test_the_choices_of_one_reply_are_all_trained_on_even_if_they_are_equal(tokenizer: Any) -> None:
    found = sequences(tokenizer, [user("a"), sampled([1], [2])], [user("a"), sampled([1], [2], index=1)])
    assert [shown(sequence) for sequence in found] == [([1, 2], [2]), ([1, 2], [2])]


def test_prompt_ids_may_stand_on_the_first_token(tokenizer: Any) -> None:
    streamed = choice([3, 4])
    streamed["logprobs"]["content"][0]["prompt_token_ids"] = [1, 2]
    (sequence,) = sequences(tokenizer, [user("a"), streamed])
    assert shown(sequence) == ([1, 2, 3, 4], [3, 4])


def test_the_context_of_a_turn_without_prompt_ids_is_rendered(tokenizer: Any) -> None:
    found = sequences(tokenizer, [user("a"), sampled([1], [2])], [user("a"), choice([2])])
    assert [sequence.turns[0].rebuilt_context for sequence in found] == [False, True]


def test_a_job_may_require_the_context_that_was_sampled_in(tokenizer: Any) -> None:
    exact = [user("a"), sampled([1], [2])]
    (sequence,) = sequences(tokenizer, exact, require_sampled_context=True)
    assert shown(sequence) == ([1, 2], [2])
    for turn in (choice([2]), {**choice([], None), "logprobs": None, "prompt_token_ids": [1]}):
        with pytest.raises(InputProblem, match="which require_sampled_context asks for") as problem:
            config: Json = {"require_sampled_context": True, "allow_training_without_logprobs": True}
            sequences(tokenizer, exact, [user("a"), turn], **config)
        assert problem.value.place == "additional_histories[0].messages_and_choices[1]"


def test_ids_without_logprobs_are_trained_on_where_that_is_allowed(tokenizer: Any) -> None:
    known = {**choice([], None), "logprobs": None, "token_ids": [3, 4], "prompt_token_ids": [1, 2]}
    assert sequences(tokenizer, [user("a"), known]) == []
    (sequence,) = sequences(tokenizer, [user("a"), known], allow_training_without_logprobs=True)
    assert shown(sequence) == ([1, 2, 3, 4], [3, 4])


@pytest.mark.parametrize(
    ("prompt", "words"),
    [([1, "2"], "no list of integers"), ([True], "no list of integers")],
)
def test_prompt_ids_that_are_none_are_refused_with_their_place(tokenizer: Any, prompt: Any, words: str) -> None:
    with pytest.raises(InputProblem, match=words) as problem:
        sequences(tokenizer, [user("a"), choice([1])], [user("a"), sampled(prompt, [3])])
    assert problem.value.place == "additional_histories[0].messages_and_choices[1]"


def recorded(element: Json, request: Json, response: Json | None = None) -> Json:
    return {**element, "exchange": {"request": request, "response": response or {}}}


def test_recorded_answers_of_other_models_are_context_alone(tokenizer: Any) -> None:
    """Clients record all requests: a judge's answer would get the advantage of the rollout that it judged."""
    own = [
        recorded(sampled([1], [2]), {"model": "wandb-artifact:///team/p/agent:step3"}),
        recorded(sampled([3], [4]), {"model": "team/p/agent"}),
        recorded(sampled([5], [6]), {"model": "agent@3"}),
        recorded(sampled([7], [8]), {}, {"model": "agent:best"}),
        recorded(sampled([9], [10]), {}),
        sampled([11], [12]),
    ]
    others = [
        recorded(sampled([21], [22]), {"model": "gpt-4o"}),
        recorded(sampled([23], [24]), {"model": "wandb-artifact:///team/q/agent"}, {"model": "agent"}),
        recorded(sampled([25], [26]), {"model": "agent-2"}),
        recorded(sampled([27], [28]), {}, {"model": "base"}),
    ]
    found = sequences(tokenizer, [user("a"), *own], [user("b"), *others], model="team/p/agent")
    assert [shown(sequence)[1] for sequence in found] == [[2], [4], [6], [8], [10], [12]]
    assert len(sequences(tokenizer, [user("a"), *own, *others])) == 10
    only = "team/p/agent"
    taught = sequences(tokenizer, [user("a"), *own], others, model=only, allow_training_without_logprobs=True)
    assert len(taught) == 6


def test_long_prompts_are_copied_for_what_they_may_continue_alone() -> None:
    """Or a chat of 2,000 turns under a template that strips reasoning takes a minute."""
    copied: list[int] = []

    class Prompt(list[int]):
        def __getitem__(self, key: Any) -> Any:
            copied.append(len(range(*key.indices(len(self)))) if isinstance(key, slice) else 1)
            return cast(Any, super()).__getitem__(key)

    found: list[Sequence] = []
    for number in range(100):
        add_turn(found, SampledTurn(Prompt([7] * (10 * number) + [number]), [1000 + number], [-1.0], Turn(1), 0))
    assert len(found) == 100
    assert max(copied) == 1
    add_turn(found, SampledTurn(Prompt([*found[-1].tokens, 5]), [6], [-1.0], Turn(1), 0))
    assert shown(found[-1])[1] == [1099, 6]


def test_a_rollout_that_asked_other_models_alone_is_refused(tokenizer: Any) -> None:
    others = [recorded(sampled([1], [2]), {"model": name}) for name in ("my-alias", "gpt-4o")]
    with pytest.raises(
        ValueError, match="'gpt-4o', 'my-alias', and none asked the model that is trained, wandb-artifact:///t/p/m"
    ):
        sequences(tokenizer, [user("a"), *others], model="t/p/m")
    assert sequences(tokenizer, [user("a")], model="t/p/m") == []
