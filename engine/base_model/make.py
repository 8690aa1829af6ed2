"""Make heddle/loom-tiny: train its tokenizer, pretrain it on generated conversations, save it in bfloat16.

    python engine/base_model/make.py --output engine/models/loom-tiny --work /tmp/loom-tiny

Everything is drawn from `--seed`. The run saves its state to `--work` and continues from there when restarted, so it
can be stopped at any time; a smaller `--tokens` on the way ends it early with the learning rate brought down.
Axes: B sample in the batch, T token position, S token to learn, N the same rounded up, D hidden, V vocabulary.
"""

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, cast

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from torch.nn import functional as F
from transformers import GenerationConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

import skills

SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
VOCABULARY = 1536
POSITIONS = 2048
ROW_TOKENS = 512  # longer than nearly every sample
ROWS_PER_BATCH = 8
BATCHES_PER_BUFFER = 16
TOKENS_PER_STEP = ROW_TOKENS * ROWS_PER_BATCH
MATRIX_LEARNING_RATE = 4e-3
EMBEDDING_LEARNING_RATE = 2e-3
WARM_UP = 0.01  # share of the run


@dataclass(frozen=True)
class Batch:
    """Rows of samples one after another. Attention and positions start anew with every sample."""

    tokens_BT: Tensor
    positions_BT: Tensor
    visible_B1TT: Tensor  # true where the query (third axis) may look at the key (fourth)
    learn_BT: Tensor  # true where the assistant wrote the token


def train_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Byte-level BPE; digits stay single, so that arithmetic sees the same columns in every number."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    rng = Random(f"{seed}/tokenizer")
    drawn = [skills.draw(rng) for _ in range(30_000)]
    texts = [message["content"] for sample in drawn for message in sample.messages]
    tools = [skills.json.dumps(tool["function"]) for tool in skills.TOOLS.values()]
    tokenizer.train_from_iterator([*texts, *tools * 100], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        clean_up_tokenization_spaces=False,
        model_max_length=POSITIONS,
    )
    fast.chat_template = (Path(__file__).parent / "chat_template.jinja").read_text()
    return fast


def new_model(seed: int) -> Qwen2ForCausalLM:
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=704,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=SPECIAL_TOKENS.index("<|im_end|>"),
        pad_token_id=SPECIAL_TOKENS.index("<|endoftext|>"),
    )
    return Qwen2ForCausalLM(config)


def encode(tokenizer: PreTrainedTokenizerFast, sample: skills.Sample) -> tuple[list[int], list[int]]:
    """Token ids and, for each, 1 where the assistant wrote it."""
    encoded: Any = tokenizer.apply_chat_template(
        sample.messages, tools=cast(Any, sample.tools), return_dict=True, return_assistant_tokens_mask=True
    )
    return encoded["input_ids"], encoded["assistant_masks"]


def batches(tokenizer: PreTrainedTokenizerFast, seed: int, buffer: int) -> Iterator[Batch]:
    """The batches of one buffer of samples, each a fair draw of all skills: B rows of T tokens, no padding but the end
    of a row. One shape for all, since the CPU kernels are compiled anew for every shape."""
    rng = Random(f"{seed}/{buffer}")
    rows: list[list[tuple[list[int], list[int]]]] = [[]]
    while len(rows) <= ROWS_PER_BATCH * BATCHES_PER_BUFFER:
        tokens, learn = encode(tokenizer, skills.draw(rng))
        if sum(len(others) for others, _ in rows[-1]) + len(tokens) > ROW_TOKENS:
            rows.append([])
        rows[-1].append((tokens[:ROW_TOKENS], learn[:ROW_TOKENS]))
    for start in range(0, ROWS_PER_BATCH * BATCHES_PER_BUFFER, ROWS_PER_BATCH):
        yield to_batch(rows[start : start + ROWS_PER_BATCH])


def to_batch(rows: list[list[tuple[list[int], list[int]]]]) -> Batch:
    def padded(values: list[int]) -> list[int]:
        return values + [0] * (ROW_TOKENS - len(values))

    tokens_BT = torch.tensor([padded([t for tokens, _ in row for t in tokens]) for row in rows])
    learn_BT = torch.tensor([padded([flag for _, learn in row for flag in learn]) for row in rows])
    positions_BT = torch.tensor([padded([p for tokens, _ in row for p in range(len(tokens))]) for row in rows])
    sample_BT = (positions_BT == 0).cumsum(dim=1)
    same_BTT = sample_BT[:, :, None] == sample_BT[:, None, :]
    return Batch(tokens_BT, positions_BT, same_BTT.tril()[:, None], learn_BT.bool())


def loss_of(model: Qwen2ForCausalLM, batch: Batch) -> Tensor:
    """Mean cross entropy of the assistant's tokens; scalar."""
    with torch.autocast("cpu", torch.bfloat16):
        hidden_BTD = model.model(
            batch.tokens_BT,
            attention_mask=batch.visible_B1TT,
            position_ids=batch.positions_BT,
            use_cache=False,
        ).last_hidden_state
        logits_BTV = model.lm_head(hidden_BTD)
    learn_BT = batch.learn_BT[:, 1:]
    return F.cross_entropy(logits_BTV[:, :-1][learn_BT].float(), batch.tokens_BT[:, 1:][learn_BT])


def learning_rate_factor(done: float) -> float:
    """Linear warm-up, then a cosine down to a hundredth; `done` is the share of the run, 0 to 1."""
    return min(1.0, done / WARM_UP + 1e-2) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


def new_optimizers(model: Qwen2ForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, where it needs fewer tokens than AdamW; AdamW for the rest."""
    parameters = dict(model.named_parameters())
    matrices = [p for name, p in parameters.items() if "layers" in name and p.ndim == 2]
    others = [p for name, p in parameters.items() if not ("layers" in name and p.ndim == 2)]
    return [
        torch.optim.Muon(matrices, lr=MATRIX_LEARNING_RATE, weight_decay=0.01, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=EMBEDDING_LEARNING_RATE, betas=(0.9, 0.95)),
    ]


def pretrain(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, seed: int, tokens: int, work: Path) -> None:
    optimizers = new_optimizers(model)
    rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizers]
    state = work / "state.pt"
    step = load_state(state, model, optimizers)
    started, first = time.monotonic(), step
    losses: list[float] = []
    while step * TOKENS_PER_STEP < tokens:
        for batch in batches(tokenizer, seed, step // BATCHES_PER_BUFFER):
            factor = learning_rate_factor(step * TOKENS_PER_STEP / tokens)
            loss = loss_of(model, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer, rate in zip(optimizers, rates, strict=True):
                optimizer.param_groups[0]["lr"] = rate * factor
                optimizer.step()
                optimizer.zero_grad()
            losses.append(loss.item())
            step += 1
        if step % (4 * BATCHES_PER_BUFFER) == 0:
            speed = (step - first) * TOKENS_PER_STEP / (time.monotonic() - started)
            mean = fmean(losses[-4 * BATCHES_PER_BUFFER :])
            seen = step * TOKENS_PER_STEP / 1e6
            print(f"step {step}, {seen:.1f}M tokens, loss {mean:.3f}, {speed:.0f} tokens/s", flush=True)
            save_state(state, model, optimizers, step)


def save_state(path: Path, model: Qwen2ForCausalLM, optimizers: list[torch.optim.Optimizer], step: int) -> None:
    aside = path.with_suffix(".tmp")
    saved = [optimizer.state_dict() for optimizer in optimizers]
    torch.save({"model": model.state_dict(), "optimizers": saved, "step": step}, aside)
    aside.rename(path)


def load_state(path: Path, model: Qwen2ForCausalLM, optimizers: list[torch.optim.Optimizer]) -> int:
    """The step to continue from: 0 without a saved state."""
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"]


def save(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, output: Path) -> None:
    model.generation_config = GenerationConfig(
        eos_token_id=[SPECIAL_TOKENS.index("<|im_end|>"), SPECIAL_TOKENS.index("<|endoftext|>")],
        pad_token_id=SPECIAL_TOKENS.index("<|endoftext|>"),
    )
    model.bfloat16().save_pretrained(output)
    tokenizer.save_pretrained(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="folder of the finished model")
    parser.add_argument("--work", type=Path, required=True, help="folder of the state to go on from")
    parser.add_argument("--tokens", type=int, default=10_500_000, help="tokens to train on, padding included")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer(arguments.seed)
    model = new_model(arguments.seed)
    pretrain(model, tokenizer, arguments.seed, arguments.tokens, arguments.work)
    save(model, tokenizer, arguments.output)


if __name__ == "__main__":
    main()
