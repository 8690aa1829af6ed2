"""What a model predicts for the sampled tokens of a batch, with and without gradients.

Memory is that of one batch: neither hidden states of other batches nor all logits of one are kept. Where a batch is
large, its layers keep only their inputs and run once more in the backward pass.

Axes: B sequence of a batch, T token position, M predicted token of a batch, N of the row, D hidden unit, V
vocabulary.
"""

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from peft import PeftModel
from torch import Tensor

from engine import layers, loss
from engine.architecture import after_prefix, body_of, head, text_config
from engine.layers import Keep, kept
from engine.memory import LOGITS_MAX
from engine.packing import Batch, Row

# Called between the batches of a row, so that a long row is not taken for a hang.
Beat = Callable[[], None]


def no_beat() -> None:
    pass


def predict(model: PeftModel, batch: Batch, *, checkpoint_from: float = math.inf) -> tuple[Tensor, Tensor]:
    """log pi of the predicted tokens, through which gradients flow, and the entropy there, without; both shape M.

    Batches of at least `checkpoint_from` tokens keep only the inputs of their layers.
    """
    base = cast(Any, model.get_base_model())
    hidden_MD = hidden_states(base, batch, "inputs" if batch.num_tokens >= checkpoint_from else "all")
    at_once = max(1, LOGITS_MAX // int(text_config(base).vocab_size))
    if len(hidden_MD) <= at_once:
        return from_hidden(base, hidden_MD, batch.targets_M)
    parts = [slice(start, start + at_once) for start in range(0, len(hidden_MD), at_once)]
    pieces: list[tuple[Tensor, Tensor]] = [
        kept("inputs", from_hidden, base, hidden_MD[part], batch.targets_M[part]) for part in parts
    ]
    return torch.cat([logprobs for logprobs, _ in pieces]), torch.cat([entropy for _, entropy in pieces])


@torch.no_grad()
def logprobs(model: PeftModel, row: Row, beat: Beat = no_beat) -> Tensor:
    """log pi of a row's sampled tokens: shape N."""
    found: list[Tensor] = []
    for batch in row.batches:
        found.append(predict(model, batch)[0])
        beat()
    return torch.cat(found)


def hidden_states(base: Any, batch: Batch, keep: Keep) -> Tensor:
    """The last hidden state wherever the next token is predicted: shape MD."""
    body = body_of(base)
    if batch.prefix is None:
        hidden_BTD = layers.plainly(body, batch.tokens_BT, keep)
    else:
        hidden_BTD = after_prefix(body, batch.tokens_BT, batch.prefix, keep)
    return hidden_BTD[batch.predicts_BT]


def from_hidden(base: Any, hidden_MD: Tensor, targets_M: Tensor) -> tuple[Tensor, Tensor]:
    return loss.logprobs_and_entropy(head(base, hidden_MD), targets_M)
