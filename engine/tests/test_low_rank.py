"""Our LoRA layer gives PEFT's numbers and keeps less for the backward pass."""

from typing import Any, cast

import pytest
import torch
from memory import bytes_kept
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn

from engine.trainer.low_rank import TOKENS_AT_ONCE, use_light_lora

INPUTS, OUTPUTS = 48, 40


def layer(dtype: torch.dtype, **options: Any) -> PeftModel:
    torch.manual_seed(0)
    base = nn.Sequential(nn.Linear(INPUTS, OUTPUTS, bias=True)).to(dtype).requires_grad_(False)
    model = cast(
        PeftModel, get_peft_model(cast(Any, base), LoraConfig(r=4, lora_alpha=12, target_modules=["0"], **options))
    )
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = torch.randn(parameter.shape) * 0.3
    return model


def passed(model: PeftModel, x: Tensor) -> list[Tensor]:
    """What comes out, and the gradients of the input and the adapter."""
    model.zero_grad()
    given = x.clone().requires_grad_()
    y: Tensor = model(given)
    (y.float() * torch.linspace(-1, 1, OUTPUTS)).sum().backward()
    trained = [parameter.grad for parameter in model.parameters() if parameter.requires_grad]
    return [tensor for tensor in (y.detach(), given.grad, *trained) if tensor is not None]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("tokens", [30, TOKENS_AT_ONCE + 30])
def test_numbers_are_those_of_peft(dtype: torch.dtype, tokens: int) -> None:
    model = layer(dtype)
    x = torch.randn(2, tokens // 2, INPUTS).to(dtype)
    theirs = passed(model, x)
    with use_light_lora(model):
        ours = passed(model, x)
    assert len(ours) == 4
    for own, other in zip(ours, theirs, strict=True):
        assert own.dtype == other.dtype
        # The gradient of the input is rounded to bfloat16 in two parts, in another order.
        bound = 1e-5 if own.dtype == torch.float32 else 1e-2
        assert (own.float() - other.float()).norm() <= bound * other.float().norm()
    again = passed(model, x)
    assert all(own.equal(other) for own, other in zip(again, theirs, strict=True))


def test_the_base_alone_while_the_adapter_is_off() -> None:
    model = layer(torch.float32)
    x = torch.randn(5, INPUTS)
    with use_light_lora(model), model.disable_adapter():
        assert model(x).equal(cast(Any, model.get_base_model())[0].base_layer(x))


def test_the_input_is_kept_in_its_own_precision() -> None:
    model = layer(torch.bfloat16)
    x = torch.randn(1000, INPUTS).bfloat16().requires_grad_()
    kept: list[int] = []
    with bytes_kept() as most:
        model(x)
    kept.append(most())
    with use_light_lora(model), bytes_kept() as most:
        model(x)
    kept.append(most())
    assert kept[0] - kept[1] == 2 * x.numel()


def test_other_kinds_of_lora_stay_as_they_are() -> None:
    model = layer(torch.float32, use_dora=True)
    x = torch.randn(5, INPUTS)
    theirs = passed(model, x)
    with use_light_lora(model):
        assert all(own.equal(other) for own, other in zip(passed(model, x), theirs, strict=True))
    assert not any("forward" in vars(module) for module in model.modules())
