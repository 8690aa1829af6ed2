"""Which requests begin with another's keys and values, and which blocks are copied for them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
from vllm.v1.kv_cache_interface import FullAttentionSpec, SlidingWindowSpec
from vllm.v1.request import RequestStatus

from engine.inference.shared_prompts import SharedPrompts

BLOCK = 32
PROMPT = list(range(BLOCK + 20))
FULL = FullAttentionSpec(block_size=BLOCK, num_kv_heads=1, head_size=8, dtype=torch.float32)
SLIDING = SlidingWindowSpec(block_size=BLOCK, num_kv_heads=1, head_size=8, dtype=torch.float32, sliding_window=64)


def connector(*specs: Any) -> SharedPrompts:
    config = SimpleNamespace(kv_transfer_config=SimpleNamespace(), cache_config=SimpleNamespace(block_size=BLOCK))
    cache = SimpleNamespace(kv_cache_groups=[SimpleNamespace(kv_cache_spec=spec) for spec in specs or (FULL,)])
    return SharedPrompts(cast(Any, config), KVConnectorRole.SCHEDULER, cast(Any, cache))


def request(name: str, prompt: list[int] = PROMPT, **more: Any) -> Any:
    """As the scheduler has it, waiting."""
    fields: dict[str, Any] = {
        "request_id": name,
        "prompt_token_ids": prompt,
        "num_prompt_tokens": len(prompt),
        "block_hashes": [hash(tuple(prompt[: end + BLOCK])) for end in range(0, len(prompt) - BLOCK + 1, BLOCK)],
        "num_computed_tokens": 0,
        "num_preemptions": 0,
        "max_tokens": 8,
        "status": RequestStatus.WAITING,
        "skip_reading_prefix_cache": False,
        "mm_features": [],
        "prompt_embeds": None,
        "lora_request": None,
        "cache_salt": None,
    }
    return SimpleNamespace(**fields | more)


def schedule(side: SharedPrompts, one: Any, blocks: list[int], computed: int = BLOCK) -> int | None:
    """As vLLM's scheduler takes a request from its queue, with what its own cache has; how many tokens are copied."""
    found, later = side.get_num_new_matched_tokens(one, computed)
    assert later is False
    if found is not None:
        one.status = RequestStatus.RUNNING
        side.update_state_after_alloc(one, cast(Any, SimpleNamespace(get_block_ids=lambda: (blocks,))), found)
    return found


def step(side: SharedPrompts, *running: Any) -> list[tuple[int, int]]:
    """Ends a step in which these compute what is missing; the blocks that it copies."""
    copies = side.build_connector_meta(cast(Any, None))
    for one in running:
        one.num_computed_tokens = max(one.num_computed_tokens + 1, one.num_prompt_tokens)
    return list(zip(copies.sources, copies.targets, strict=True))


def finish(side: SharedPrompts, one: Any) -> None:
    one.status = RequestStatus.FINISHED_STOPPED
    assert side.request_finished_all_groups(one, ([],)) == (False, None)


def test_a_request_waits_for_the_step_of_another_and_copies_its_last_block() -> None:
    side, first, second, third = connector(), request("a"), request("b"), request("c")
    assert schedule(side, first, [1, 2]) == 0
    assert schedule(side, second, [1, 3]) is None
    assert step(side, first) == []
    assert schedule(side, second, [1, 3]) == len(PROMPT) - 1 - BLOCK
    assert schedule(side, third, [7, 4], computed=0) == len(PROMPT) - 1
    assert step(side, first, second, third) == [(2, 3), (1, 7), (2, 4)]
    assert step(side) == []


def test_one_that_runs_on_is_copied_when_the_first_has_ended() -> None:
    side, first, second = connector(), request("a"), request("b")
    schedule(side, first, [1, 2])
    step(side, first)
    schedule(side, second, [1, 3])
    step(side, second)
    finish(side, first)
    assert schedule(side, request("c"), [1, 4]) == len(PROMPT) - 1 - BLOCK
    assert step(side) == [(3, 4)]


def test_no_request_waits_twice() -> None:
    side, first, second = connector(), request("a"), request("b")
    schedule(side, first, [1, 2])
    assert schedule(side, second, [1, 3]) is None
    step(side, first)
    finish(side, first)
    other = request("c")
    assert schedule(side, other, [1, 4]) == 0
    assert schedule(side, second, [1, 3]) == 0


def test_none_waits_for_an_answer_that_ends_with_its_first_token() -> None:
    side = connector()
    schedule(side, request("a", max_tokens=1), [1, 2])
    assert schedule(side, request("b"), [1, 3]) == 0


def test_one_that_was_preempted_is_not_copied_and_copies_nothing() -> None:
    side, first = connector(), request("a")
    schedule(side, first, [1, 2])
    step(side, first)
    first.status, first.num_preemptions, first.num_computed_tokens = RequestStatus.PREEMPTED, 1, 0
    second = request("b")
    assert schedule(side, second, [1, 3]) == 0
    step(side, second)
    assert schedule(side, first, [8, 9]) == 0
    step(side, first)
    assert schedule(side, request("c"), [1, 4]) == len(PROMPT) - 1 - BLOCK
    assert step(side) == [(3, 4)]


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": [*PROMPT[:-1], 999]},
        {"prompt": [999, *PROMPT[1:]]},
        {"lora_request": SimpleNamespace(lora_int_id=2)},
        {"cache_salt": "a team"},
        {"skip_reading_prefix_cache": True},
        {"mm_features": ["a picture"]},
        {"prompt_embeds": torch.zeros(1)},
        {"prompt_token_ids": None},
        {"block_hashes": []},
    ],
    ids=lambda other: "-".join(other),
)
def test_another_prompt_shares_nothing(other: Any) -> None:
    side, first = connector(), request("a", lora_request=SimpleNamespace(lora_int_id=1))
    schedule(side, first, [1, 2])
    step(side, first)
    more = {"lora_request": SimpleNamespace(lora_int_id=1)} | other
    assert schedule(side, request("b", **more), [1, 3]) == 0
    assert schedule(side, request("c", lora_request=SimpleNamespace(lora_int_id=1)), [1, 4]) != 0


def test_few_tokens_are_computed() -> None:
    side, first = connector(), request("a", PROMPT[: BLOCK + 8])
    schedule(side, first, [1, 2])
    step(side, first)
    assert schedule(side, request("b", PROMPT[: BLOCK + 8]), [1, 3]) == 0


def test_a_prompt_of_whole_blocks_copies_the_last_one() -> None:
    prompt = PROMPT[:BLOCK]
    side, first = connector(), request("a", prompt)
    schedule(side, first, [1], computed=0)
    step(side, first)
    assert schedule(side, request("b", prompt), [2], computed=0) == BLOCK - 1
    assert step(side) == [(1, 2)]


@pytest.mark.parametrize("specs", [(SLIDING,), (FULL, SLIDING)])
def test_caches_that_drop_blocks_share_nothing(specs: Any) -> None:
    side, first = connector(*specs), request("a")
    assert schedule(side, first, [1, 2]) == 0
    step(side, first)
    assert schedule(side, request("b"), [1, 3]) == 0


def test_nothing_is_kept_of_requests_that_ended() -> None:
    side = connector()
    requests = [request(str(number)) for number in range(3)]
    for one in requests:
        schedule(side, one, [1, 2])
        step(side, one)
    aborted = request("aborted", PROMPT[::-1])
    schedule(side, request("other", PROMPT[::-1]), [5, 6])
    assert schedule(side, aborted, [5, 7]) is None
    for one in (*requests, aborted, request("other", PROMPT[::-1]), request("never begun")):
        finish(side, one)
    assert (side.holders, side.by_prompt, side.waited) == ({}, {}, set())


def test_the_worker_copies_blocks_of_every_layer() -> None:
    side = connector()
    layers = [torch.arange(12.0).view(4, 3) + 100 * number for number in range(2)]
    side.register_kv_caches({str(number): layer.clone() for number, layer in enumerate(layers)})
    first = request("a")
    schedule(side, first, [0, 1])
    step(side, first)
    schedule(side, request("b"), [0, 3])
    side.bind_connector_metadata(side.build_connector_meta(cast(Any, None)))
    side.start_load_kv(None)
    for before, after in zip(layers, side.layers, strict=True):
        assert torch.equal(after[3], before[1])
        assert torch.equal(after[:3], before[:3])
