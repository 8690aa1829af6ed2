"""What a model says about the sampled tokens of a row, with and without gradients.

Axes: B sequence of a batch, T token position, C prefix, P position in a prefix, M predicted token of a batch, N of the
row, D hidden unit, V vocabulary.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from peft import PeftModel
from torch import Tensor
from transformers import DynamicCache

from engine import loss
from engine.packing import Batch, Prefix, Row

# Called between the batches of a row, so that nobody takes a long row for a hanging one.
Beat = Callable[[], None]


def no_beat() -> None:
    pass


class Prediction:
    """log pi and entropy of a row's sampled tokens, and the way back to the weights.

    The graph is cut at the last hidden states: what comes after is one graph for the whole row, as the loss needs it,
    and what comes before is one for each batch. `backward` goes through them one by one and frees each.
    """

    def __init__(self, model: PeftModel, row: Row, beat: Beat = no_beat) -> None:
        self._beat = beat
        self._hidden: list[Tensor] = []
        for batch in row.batches:
            self._hidden.append(hidden_states(model, batch))
            beat()
        self._cut_ND = torch.cat([hidden_MD.detach() for hidden_MD in self._hidden]).requires_grad_()
        logits_NV = cast(Any, model.get_base_model()).lm_head(self._cut_ND)
        self.logprobs_N, self.entropy_N = loss.logprobs_and_entropy(logits_NV, row.tokens_N)

    def backward(self, loss: Tensor) -> None:
        loss.backward()
        assert self._cut_ND.grad is not None
        sizes = [len(hidden_MD) for hidden_MD in self._hidden]
        gradients = cast(tuple[Tensor, ...], self._cut_ND.grad.split(sizes))
        for gradient_MD in reversed(gradients):
            self._hidden.pop().backward(gradient_MD)
            self._beat()


@torch.no_grad()
def logprobs(model: PeftModel, row: Row, beat: Beat = no_beat) -> Tensor:
    """log pi of a row's sampled tokens: shape N."""
    return Prediction(model, row, beat).logprobs_N


def hidden_states(model: PeftModel, batch: Batch) -> Tensor:
    """The last hidden state wherever the next token is predicted: shape MD."""
    transformer = cast(Any, model.get_base_model()).model
    if batch.prefix is None:
        hidden_BTD: Tensor = transformer(input_ids=batch.tokens_BT, use_cache=False).last_hidden_state
    else:
        hidden_BTD = after_prefix(transformer, batch.tokens_BT, batch.prefix)
    return hidden_BTD[batch.predicts_BT]


def after_prefix(transformer: Any, tokens_BT: Tensor, prefix: Prefix) -> Tensor:
    """Runs each prefix once and then its sequences on what attention keeps of it; gradients flow back through that."""
    cache = DynamicCache()
    transformer(input_ids=prefix.tokens_CP, past_key_values=cache, use_cache=True)
    cache.batch_select_indices(prefix.index_B)
    length = tokens_BT.shape[1]
    positions_T = torch.arange(length, device=tokens_BT.device)
    return transformer(
        input_ids=tokens_BT,
        past_key_values=cache,
        use_cache=True,
        position_ids=prefix.lengths_B[:, None] + positions_T,
        attention_mask=attention_bias(prefix, length, transformer.dtype),
    ).last_hidden_state


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
