"""What a model predicts for the sampled tokens of a row, with and without gradients.

Axes: B sequence of a batch, T token position, M predicted token of a batch, N of the row, D hidden unit, V
vocabulary.
"""

from collections.abc import Callable
from typing import cast

import torch
from peft import PeftModel
from torch import Tensor

from engine import loss
from engine.architecture import after_prefix, body_of, head
from engine.packing import Batch, Row

# Called between the batches of a row, so that a long row is not taken for a hang.
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
        logits_NV = head(model.get_base_model(), self._cut_ND)
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
    body = body_of(model.get_base_model())
    if batch.prefix is None:
        hidden_BTD: Tensor = body(input_ids=batch.tokens_BT, use_cache=False).last_hidden_state
    else:
        hidden_BTD = after_prefix(body, batch.tokens_BT, batch.prefix)
    return hidden_BTD[batch.predicts_BT]
