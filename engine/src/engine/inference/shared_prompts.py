"""Answers to one prompt share all of its keys and values on a CPU, not only those in whole blocks of the cache.

vLLM's own cache shares whole blocks, of 32 tokens on a CPU, and what a prompt has beyond those is computed for each
answer. For a group of rollouts of a short prompt that is most of the work (docs/decisions/0009). Here a request whose
prompt another one has just begun waits for that step, and then begins with a copy of the other's last block.

vLLM calls this as a KV connector, its interface for keys and values that come from elsewhere: once in the scheduler,
which chooses blocks, and once in the worker, which copies them. See `--kv-transfer-config` in serve.py.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from vllm.config import VllmConfig
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    SupportsHMA,
)
from vllm.v1.core.kv_cache_manager import KVCacheBlocks
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig
from vllm.v1.request import Request, RequestStatus

TOKENS_MIN = 8
"""Fewer are computed: that takes less than the step that a request waits for them."""


@dataclass(eq=False)
class Holder:
    """A request that runs since it got its blocks, which are in the order of its tokens."""

    request: Request
    prompt: Hashable
    blocks: list[int]

    def runs(self) -> bool:
        # One that was preempted has other blocks when it goes on.
        return self.request.status == RequestStatus.RUNNING and self.request.num_preemptions == 0

    def has_computed(self) -> bool:
        """Whether all of its prompt is in the cache before the next step."""
        return self.runs() and self.request.num_computed_tokens >= self.request.num_prompt_tokens

    def will_have_computed(self) -> bool:
        """Whether it computes its prompt in this step, and runs on after it."""
        return self.runs() and not self.has_computed() and self.request.max_tokens > 1


@dataclass
class Copies(KVConnectorMetadata):
    """The blocks that a step copies before it computes: `sources[i]` to `targets[i]`."""

    sources: list[int] = field(default_factory=list[int])
    targets: list[int] = field(default_factory=list[int])


class SharedPrompts(KVConnectorBase_V1, SupportsHMA):
    """Both sides: the scheduler's has the holders of prompts, the worker's the tensors of the cache."""

    def __init__(self, vllm_config: VllmConfig, role: KVConnectorRole, kv_cache_config: KVCacheConfig) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        groups = kv_cache_config.kv_cache_groups
        # Other caches drop blocks, or have a state instead of them.
        self.is_possible = len(groups) == 1 and isinstance(groups[0].kv_cache_spec, FullAttentionSpec)
        self.block_size = vllm_config.cache_config.block_size
        self.layers: list[Tensor] = []
        self.copies = Copies()
        # By id of the request, and by prompt: no more than requests that have begun and not ended.
        self.holders: dict[str, Holder] = {}
        self.by_prompt: dict[Hashable, list[Holder]] = {}
        # Requests that have waited, which none does twice: the one that they waited for may have ended.
        self.waited: set[str] = set()

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    def get_num_new_matched_tokens(self, request: Request, num_computed_tokens: int) -> tuple[int | None, bool]:
        """How many tokens of the prompt are to be copied; None if they will be there in the next step."""
        prompt = self.prompt_of(request)
        # The last token of a prompt is always computed: it gives the first of the answer.
        missing = request.num_prompt_tokens - 1 - num_computed_tokens
        if prompt is None or missing < TOKENS_MIN:
            return 0, False
        if self.holder_of(prompt) is not None:
            return missing, False
        others = self.by_prompt.get(prompt, [])
        if request.request_id in self.waited or not any(other.will_have_computed() for other in others):
            return 0, False
        self.waited.add(request.request_id)
        return None, False

    def update_state_after_alloc(self, request: Request, blocks: KVCacheBlocks, num_external_tokens: int) -> None:
        prompt = self.prompt_of(request)
        if prompt is None:
            return
        own = blocks.get_block_ids()[0]
        if num_external_tokens > 0:
            holder = self.holder_of(prompt)
            assert holder is not None
            last = request.num_prompt_tokens - 1
            for index in range((last - num_external_tokens) // self.block_size, (last - 1) // self.block_size + 1):
                self.copies.sources.append(holder.blocks[index])
                self.copies.targets.append(own[index])
        holder = self.holders[request.request_id] = Holder(request, prompt, own)
        self.by_prompt.setdefault(prompt, []).append(holder)

    def build_connector_meta(self, scheduler_output: SchedulerOutput) -> Copies:
        copies, self.copies = self.copies, Copies()
        return copies

    def request_finished_all_groups(
        self, request: Request, block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        self.waited.discard(request.request_id)
        holder = self.holders.pop(request.request_id, None)
        if holder is not None:
            others = self.by_prompt[holder.prompt]
            others.remove(holder)
            if not others:
                del self.by_prompt[holder.prompt]
        return False, None

    def prompt_of(self, request: Request) -> Hashable | None:
        """What says that keys and values are the same, or None where they are never shared."""
        tokens = request.prompt_token_ids
        shares = self.is_possible and not request.skip_reading_prefix_cache and request.num_preemptions == 0
        if not shares or tokens is None or request.mm_features or request.prompt_embeds is not None:
            return None
        whole = len(tokens) // self.block_size
        # vLLM's hash of a block covers all before it; there are none where its cache is off.
        if len(request.block_hashes) < whole:
            return None
        before = request.block_hashes[whole - 1] if whole > 0 else None
        adapter = request.lora_request.lora_int_id if request.lora_request else None
        return before, tuple(tokens[whole * self.block_size :]), adapter, request.cache_salt

    def holder_of(self, prompt: Hashable) -> Holder | None:
        return next((holder for holder in self.by_prompt.get(prompt, []) if holder.has_computed()), None)

    def register_kv_caches(self, kv_caches: dict[str, Tensor]) -> None:
        """Tensors of all layers, which have blocks as their first axis."""
        self.layers = list(kv_caches.values())

    def start_load_kv(self, forward_context: Any, **_: Any) -> None:
        """Copies whole blocks: what a source has after the prompt is overwritten, and not read before."""
        copies = self._get_connector_metadata()
        assert isinstance(copies, Copies)
        if not copies.sources:
            return
        sources, targets = torch.tensor(copies.sources), torch.tensor(copies.targets)
        for layer in self.layers:
            layer[targets] = layer[sources]

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing is to be awaited: copies are made before a step."""

    def save_kv_layer(self, layer_name: str, kv_layer: Tensor, attn_metadata: Any, **_: Any) -> None:
        """Nothing is stored elsewhere."""

    def wait_for_save(self) -> None:
        """Nothing is stored elsewhere."""
