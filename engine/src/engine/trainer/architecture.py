"""What differs between architectures: the two halves of a model, its head, prefixes, and which layers take LoRA.

A causal language model of transformers is a body, which ends at the last hidden states, and what its forward does
after it: not `lm_head` alone, but also a soft cap (Gemma 2), a division (Granite), a factor (Cohere). Its own
forward is run for that, so this module needs no knowledge of them; `check` refuses an architecture for which this is
not so.

Axes: B sequence of a batch, T token position, C prefix, P position in a prefix, M any token, D hidden unit, V
vocabulary.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, PreTrainedModel

from engine.problem import one_line
from engine.trainer import layers
from engine.trainer.errors import InputProblem, Problem, is_out_of_memory
from engine.trainer.layers import Keep
from engine.trainer.on_policy import GAP_OF_ROUNDING
from engine.trainer.packing import Prefix

# Nats. The same operations on the same numbers: any difference is another operation, in any precision.
HEAD_GAP_MAX = 1e-4
CHECKED_TOKENS = 16
# Of small random models in bfloat16, right ones differ by up to 0.03 nats on average, those with a window that is left
# out by 0.4 and more; GAP_OF_ROUNDING is 0.083.
SHARED_ROUNDINGS = 3


def load_model(path: str, dtype: torch.dtype, **how: Any) -> PreTrainedModel:
    model = cast(PreTrainedModel, AutoModelForCausalLM.from_pretrained(path, dtype=dtype, **how))
    if getattr(text_config(model), "attn_logit_softcapping", None):
        # Of the ways to compute attention only this one has Gemma 2's soft cap, which vLLM has as well.
        model.set_attn_implementation("eager")
    return model


def text_config(model: PreTrainedModel) -> Any:
    """The configuration of the language model, also inside a model that sees images."""
    return cast(Any, model.config).get_text_config()


def num_positions(model: PreTrainedModel) -> int:
    """Tokens of the longest sequence."""
    found = getattr(text_config(model), "max_position_embeddings", None)
    if not isinstance(found, int):
        raise Problem("its config.json does not say max_position_embeddings, the tokens of the longest sequence")
    return found


def body_of(model: Any) -> Any:
    """From token ids to the last hidden states."""
    return getattr(model, model.base_model_prefix)


def head(model: Any, hidden_MD: Tensor) -> Tensor:
    """From last hidden states to logits, shape MV: the model's own forward with a body that answers these states."""
    with answering(body_of(model), hidden_MD[None]):
        return model(inputs_embeds=hidden_MD[None], use_cache=False).logits[0]


class BodyOutput(SimpleNamespace):
    """A body's output, as far as a head needs it: the states, and None for the rest (losses of routers ...)."""

    last_hidden_state: Tensor

    def __getattr__(self, name: str) -> None:
        return None

    def __getitem__(self, index: int) -> Tensor | None:
        return self.last_hidden_state if index == 0 else None


@contextmanager
def answering(body: Any, hidden_BTD: Tensor) -> Generator[None]:
    def forward(*_: object, **__: object) -> BodyOutput:
        return BodyOutput(last_hidden_state=hidden_BTD)

    body.forward = forward
    try:
        yield
    finally:
        del body.forward


def shares_prefixes(model: PreTrainedModel) -> bool:
    """Whether attention's cache of a prefix can be shared by several sequences."""
    return remembers(model) and reproduces_shared_prefixes(model)


def remembers(model: PreTrainedModel) -> bool:
    """Whether attention sees all tokens before one, not the last of them alone."""
    config = text_config(model)
    kinds: list[str] = getattr(config, "layer_types", None) or []
    if kinds:
        return all(kind == "full_attention" for kind in kinds)
    # Qwen2 has a window size in its configuration even when the window is off.
    uses_window = getattr(config, "use_sliding_window", True) and getattr(config, "sliding_window", None)
    return not uses_window and not getattr(config, "attention_chunk_size", None)


@torch.no_grad()
def check(model: PreTrainedModel) -> None:
    """Refuses, by name, an architecture whose log-probabilities are not reproduced: the two halves are compared with
    the whole on a few tokens."""
    name = type(model).__name__
    try:
        num_positions(model)
        tokens_BT = some_tokens(model)
        whole_BTV = cast(Any, model)(input_ids=tokens_BT, use_cache=False).logits.float()
        hidden_BTD = body_of(model)(input_ids=tokens_BT, use_cache=False).last_hidden_state
        gap = gaps(head(model, hidden_BTD.flatten(0, 1)).view_as(whole_BTV), whole_BTV).max().item()
    except Exception as error:
        raise Problem(f"models of the architecture {name} cannot be trained: {one_line(error)}") from error
    if not gap <= HEAD_GAP_MAX:
        raise Problem(
            f"models of the architecture {name} cannot be trained: the trainer's log-probabilities differ from those "
            f"of the model's own forward by {gap:.2g} nats"
        )


@torch.no_grad()
def reproduces_shared_prefixes(model: PreTrainedModel) -> bool:
    """Whether sequences whose beginning is run once have the log-probabilities that they have when they are run whole,
    but for rounding. Where not, the log says so: they are then run whole."""
    tokens_BT = some_tokens(model)
    try:
        whole_BTV = cast(Any, model)(input_ids=tokens_BT, use_cache=False).logits
        gap = gaps(after_shared_prefix(model, tokens_BT), whole_BTV[:, CHECKED_TOKENS // 2 :]).mean().item()
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = one_line(error)
    else:
        # In bfloat16 the order of sums alone changes single log-probabilities by as much as an error would.
        if gap <= HEAD_GAP_MAX + SHARED_ROUNDINGS * GAP_OF_ROUNDING.get(model.dtype, 0.0):
            return True
        reason = f"log-probabilities differ by {gap:.2g} nats on average"
    print(f"{type(model).__name__}: every sequence runs whole, not after a shared prefix: {reason}", file=sys.stderr)
    return False


def some_tokens(model: PreTrainedModel) -> Tensor:
    """Two sequences that begin alike, always the same: shape BT."""
    generator = torch.Generator().manual_seed(0)
    tokens_BT = torch.randint(int(text_config(model).vocab_size), (2, CHECKED_TOKENS), generator=generator)
    tokens_BT[1, : CHECKED_TOKENS // 2] = tokens_BT[0, : CHECKED_TOKENS // 2]
    return tokens_BT.to(model.device)


def after_shared_prefix(model: PreTrainedModel, tokens_BT: Tensor) -> Tensor:
    """The logits of the second half of sequences whose first half is run once."""
    half = CHECKED_TOKENS // 2
    index_B = torch.zeros(len(tokens_BT), dtype=torch.long, device=tokens_BT.device)
    prefix = Prefix(tokens_BT[:1, :half], index_B, torch.full_like(index_B, half))
    hidden_BTD = after_prefix(body_of(model), tokens_BT[:, half:], prefix)
    return head(model, hidden_BTD.flatten(0, 1)).view(*hidden_BTD.shape[:2], -1)


def gaps(logits_BTV: Tensor, expected_BTV: Tensor) -> Tensor:
    """Absolute differences of log-probabilities, in nats; shape BTV."""
    return (logits_BTV.float().log_softmax(-1) - expected_BTV.float().log_softmax(-1)).abs()


def targets_for_text(model: PreTrainedModel, targets: list[str]) -> list[str]:
    """`targets` as PEFT must get them: a model that sees images may have layers of the same names in its other parts,
    for which vLLM has no LoRA. Then the layers of the language model by their full names, else as they are.

    Every target must be a linear layer of the language model below its head: PEFT leaves out those that it does not
    find, and rewrites those of a mixture of experts to parameters that vLLM does not load. vLLM has LoRA for the heads
    of some architectures alone, and refuses the whole adapter elsewhere (Qwen2)."""
    linear = linear_layers_for_text(model)
    missing = sorted(target for target in targets if not any(is_at(name, target) for name in linear))
    found = sorted({name.rsplit(".", 1)[-1] for name in linear})
    if missing:
        raise InputProblem(
            "lora.target_modules",
            f"models of the architecture {type(model).__name__} have no linear layers {', '.join(missing)} that take "
            f"an adapter: register the model with lora.target_modules of their own, such as {', '.join(found)}",
        )
    wanted = {name for name in linear_layers(model) if any(is_at(name, target) for target in targets)}
    return sorted(targets if wanted <= {*linear} else wanted & {*linear})


def linear_layers(model: nn.Module) -> list[str]:
    named = cast(list[tuple[str, object]], [*model.named_modules()])
    return [name for name, layer in named if isinstance(layer, nn.Linear)]


def linear_layers_for_text(model: PreTrainedModel) -> list[str]:
    """Those of the language model but for its head."""
    of_text = {*cast(Any, model).get_decoder().modules()} - {cast(Any, model).get_output_embeddings()}
    return [name for name in linear_layers(model) if model.get_submodule(name) in of_text]


def is_at(name: str, target: str) -> bool:
    """As PEFT matches a list of targets."""
    return name == target or name.endswith(f".{target}")


def after_prefix(body: Any, tokens_BT: Tensor, prefix: Prefix, keep: Keep = "all") -> Tensor:
    """Runs each prefix once and then its sequences on attention's view of it; gradients flow back through it."""
    length = tokens_BT.shape[1]
    return layers.run_after_prefixes(
        body,
        tokens_BT,
        layers.keys_and_values(body, prefix.tokens_CP, keep),
        prefix.index_B,
        keep,
        position_ids=prefix.lengths_B[:, None] + torch.arange(length, device=tokens_BT.device),
        attention_mask=attention_bias(prefix, length, body.dtype),
    )


def attention_bias(prefix: Prefix, length: int, dtype: torch.dtype) -> Tensor:
    """0 where a token may look, the lowest number elsewhere; shape B, 1, T, P + T. A token sees its whole prefix but
    not the padding after it, and what comes before it in its own sequence."""
    device = prefix.tokens_CP.device
    batch_size, prefix_size = len(prefix.index_B), prefix.tokens_CP.shape[1]
    in_prefix_BP = torch.arange(prefix_size, device=device) < prefix.lengths_B[:, None]
    causal_TT = torch.ones(length, length, dtype=torch.bool, device=device).tril()
    visible_BTK = torch.cat(
        [
            in_prefix_BP[:, None].expand(batch_size, length, prefix_size),
            causal_TT.expand(batch_size, length, length),
        ],
        dim=2,
    )
    return torch.zeros(visible_BTK.shape, dtype=dtype, device=device).masked_fill_(
        ~visible_BTK, torch.finfo(dtype).min
    )[:, None]
