"""How much memory training takes, by arithmetic on the shape of a model; nothing is loaded.

For decoders of the kind of Llama and Qwen: attention with grouped keys, a gated MLP, RMS norms, LoRA on all linear
layers. docs/decisions/0035 has what was measured on layers of the real size beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GIB = 2**30
FLOAT32 = 4

# Logits that exist at once: 256 MiB in float32, and some copies of that; 441 tokens of a vocabulary of 152,000. A small
# model's are all there at once, which saves calculating them twice.
LOGITS_MAX = 2**26
# Copies of them in float32 at the peak of their backward pass, and the model's own in its precision.
LOGITS_COPIES = 4
# What CUDA, its libraries and the gaps between tensors take: 0.8 to 1.9 GiB of an H100.
PROCESS_BYTES = 2 * GIB
# Weights in 4 bits with a common scale, by bitsandbytes: in 8 bits where a model trains, with one in float32 for each
# 256 of them. vLLM's plugin keeps the scales in float32.
NF4_BLOCK = 64
NF4_TRAINED_BYTES = 1 / 2 + 1 / NF4_BLOCK + FLOAT32 / (NF4_BLOCK * 256)
NF4_SERVED_BYTES = 1 / 2 + FLOAT32 / NF4_BLOCK
# Members of a configuration that say how many experts a layer has.
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")


@dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    intermediate: int
    queries: int  # heads times their dimension
    keys: int  # the same of keys, which are shared by several queries
    heads: int
    vocabulary: int
    tied: bool
    norms_queries: bool  # as Qwen3 does

    @staticmethod
    def of(config: Mapping[str, Any]) -> "Shape":
        """From the members of a model's config.json.

        Raises KeyError for one of another kind, and for a mixture of experts, of which a token uses a part.
        """
        for experts in EXPERTS:
            if config.get(experts):
                raise KeyError(experts)
        heads = int(config["num_attention_heads"])
        head_dim = int(config.get("head_dim") or config["hidden_size"] // heads)
        return Shape(
            hidden=int(config["hidden_size"]),
            layers=int(config["num_hidden_layers"]),
            intermediate=int(config["intermediate_size"]),
            queries=heads * head_dim,
            keys=int(config.get("num_key_value_heads") or heads) * head_dim,
            heads=heads,
            vocabulary=int(config["vocab_size"]),
            tied=bool(config.get("tie_word_embeddings", False)),
            norms_queries=str(config.get("model_type", "")).startswith("qwen3"),
        )

    @property
    def linear_of_layer(self) -> int:
        """Parameters of the linear layers of one layer."""
        return self.hidden * (2 * self.queries + 2 * self.keys + 3 * self.intermediate)

    @property
    def largest_linear(self) -> int:
        return self.hidden * max(self.intermediate, self.queries)

    def has_whole_blocks(self, gpus: int) -> bool:
        """Whether each of so many GPUs that serve has whole blocks in 4 bits."""
        inputs = (self.queries, self.intermediate)
        return gpus == 1 or not (self.hidden % NF4_BLOCK or any(size % (NF4_BLOCK * gpus) for size in inputs))

    @property
    def embeddings(self) -> int:
        return self.vocabulary * self.hidden * (1 if self.tied else 2)

    @property
    def parameters(self) -> int:
        return self.layers * self.linear_of_layer + self.embeddings

    def adapter_parameters(self, rank: int) -> int:
        attention = 2 * (self.hidden + self.queries) + 2 * (self.hidden + self.keys)
        return self.layers * rank * (attention + 3 * (self.hidden + self.intermediate))


def weights_bytes(shape: Shape, *, linear: float | None = None, element: int = 2) -> float:
    """`linear`: bytes of one weight of a linear layer, where these are in 4 bits; embeddings and the head never are."""
    return shape.layers * shape.linear_of_layer * (linear or element) + shape.embeddings * element


def unpacked_bytes(shape: Shape, *, four_bit: bool, element: int = 2) -> int:
    """A linear layer in 4 bits is in full precision while it computes, each alone: the largest counts."""
    return shape.largest_linear * element if four_bit else 0


def adapter_bytes(shape: Shape, rank: int) -> int:
    """In float32: weights, gradients and the two moments of AdamW."""
    return 4 * FLOAT32 * shape.adapter_parameters(rank)


def input_bytes(shape: Shape, element: int = 2) -> int:
    """What a layer that runs once more keeps of a token: its input."""
    return shape.hidden * element


def layer_bytes(shape: Shape, element: int = 2) -> int:
    """What one layer keeps of a token for its backward pass when it runs only once.

    Norms keep their input in float32. The linear layers' inputs are kept once each for the adapter; attention keeps
    queries, keys, values and its result, and the MLP both halves before and after they are multiplied.
    """
    norms = 2 * shape.hidden * FLOAT32
    if shape.norms_queries:
        norms += (shape.queries + shape.keys) * FLOAT32
    attention = element * (2 * shape.queries + 2 * shape.keys) + FLOAT32 * shape.heads
    inputs = element * 2 * shape.hidden
    mlp = element * 4 * shape.intermediate
    return norms + attention + inputs + mlp


def activations_bytes(shape: Shape, tokens: int, *, checkpointed: bool, element: int = 2) -> int:
    """The most that a batch of `tokens` tokens keeps at a time. A layer's backward pass holds the gradients of the
    MLP's halves, and those of the layer's output, beside what the layer kept."""
    gradients = element * (3 * shape.intermediate + 2 * shape.hidden)
    if checkpointed:
        return tokens * (shape.layers * input_bytes(shape, element) + layer_bytes(shape, element) + gradients)
    return tokens * (shape.layers * layer_bytes(shape, element) + gradients)


def logits_bytes(shape: Shape, tokens: int, element: int = 2) -> int:
    at_once = min(tokens * shape.vocabulary, LOGITS_MAX)
    return at_once * (LOGITS_COPIES * FLOAT32 + element)


@dataclass(frozen=True)
class Training:
    """Bytes of one GPU."""

    weights: float
    adapter: float
    activations: float
    logits: float

    @property
    def peak(self) -> float:
        """Of what tensors take. Logits and the backward pass of layers have their peaks at different times; what layers
        keep is there at both, and the larger of the two is added to it."""
        return self.weights + self.adapter + max(self.activations, self.logits)


def training(
    shape: Shape,
    tokens: int,
    *,
    rank: int = 8,
    gpus: int = 1,
    four_bit: bool = False,
    checkpointed: bool = True,
    element: int = 2,
) -> Training:
    """`tokens` are those of the longest sequence, or of a batch of shorter ones. Over several GPUs (FSDP) the layers
    are sharded, two of them whole at a time; embeddings, head and adapter are on each, and once a step a copy of the
    adapter's gradients. In 4 bits all layers are on each."""
    weights = weights_bytes(shape, linear=NF4_TRAINED_BYTES if four_bit else None, element=element)
    weights += unpacked_bytes(shape, four_bit=four_bit, element=element)
    if gpus > 1 and not four_bit:
        layers = weights - shape.embeddings * element
        weights += layers / gpus + 2 * layers / shape.layers - layers
    kept = tokens * shape.layers * (input_bytes if checkpointed else layer_bytes)(shape, element)
    return Training(
        weights=weights,
        adapter=adapter_bytes(shape, rank) + (FLOAT32 * shape.adapter_parameters(rank) if gpus > 1 else 0),
        activations=activations_bytes(shape, tokens, checkpointed=checkpointed, element=element),
        logits=kept + logits_bytes(shape, tokens, element),
    )
