"""What a model predicts for the sampled tokens of a batch, with and without gradients.

Memory is that of one batch: neither hidden states of other batches nor all logits of one are kept. Where a batch is
large, its layers keep only their inputs and run once more in the backward pass.

Axes: B sequence of a batch, T token position, M predicted token of a batch, N of the row, D hidden unit, V
vocabulary.
"""

from typing import Any, cast

import torch
from peft import PeftModel
from torch import Tensor

from engine.beat import Beat, no_beat
from engine.memory import LOGITS_MAX
from engine.trainer import layers, loss
from engine.trainer.architecture import after_prefix, body_of, head, text_config
from engine.trainer.layers import Keep, run_keeping
from engine.trainer.packing import Batch, Row
from engine.trainer.ranks import ALONE, Ranks


def predict(model: PeftModel, batch: Batch, keep: Keep = "all") -> tuple[Tensor, Tensor]:
    """log pi of the predicted tokens, through which gradients flow, and the entropy there, without; both shape M.
    `keep` is what layers keep for the backward pass."""
    base = cast(Any, model.get_base_model())
    hidden_MD = hidden_states(base, batch, keep)
    at_once = max(1, LOGITS_MAX // int(text_config(base).vocab_size))
    if len(hidden_MD) <= at_once:
        return from_hidden(base, hidden_MD, batch.targets_M)
    parts = [slice(start, start + at_once) for start in range(0, len(hidden_MD), at_once)]
    pieces: list[tuple[Tensor, Tensor]] = [
        run_keeping("inputs", from_hidden, base, hidden_MD[part], batch.targets_M[part]) for part in parts
    ]
    return torch.cat([logprobs for logprobs, _ in pieces]), torch.cat([entropy for _, entropy in pieces])


@torch.no_grad()
def logprobs(model: PeftModel, row: Row, beat: Beat = no_beat, ranks: Ranks = ALONE) -> Tensor:
    """log pi of a row's sampled tokens: shape N. With a beat after each batch: a row may be long."""
    found_N = torch.zeros_like(row.weights_N)
    for share in ranks.shares(row):
        logprobs_M, _ = predict(model, share.batch)
        if share.counts:
            found_N[share.part] = logprobs_M
        beat()
    ranks.sum([found_N])
    return found_N


def hidden_states(base: Any, batch: Batch, keep: Keep) -> Tensor:
    """The last hidden state wherever the next token is predicted: shape MD."""
    body = body_of(base)
    if batch.prefix is None:
        hidden_BTD = layers.run_body(body, batch.tokens_BT, keep)
    else:
        hidden_BTD = after_prefix(body, batch.tokens_BT, batch.prefix, keep)
    return hidden_BTD[batch.predicts_BT]


def from_hidden(base: Any, hidden_MD: Tensor, targets_M: Tensor) -> tuple[Tensor, Tensor]:
    return loss.logprobs_and_entropy(head(base, hidden_MD), targets_M)
