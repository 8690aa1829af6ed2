"""What vLLM itself prompts a model with, made by its own code in this process."""

from types import SimpleNamespace
from typing import Any, cast

from examples import Json
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.renderers import hf
from vllm.renderers.chat_utils import parse_chat_messages

# What a text model's configuration says to the code that renders.
MODEL = cast(
    Any,
    SimpleNamespace(
        enable_prompt_embeds=False,
        multimodal_config=None,
        tokenizer="none",
        model="none",
        revision=None,
        tokenizer_revision=None,
        code_revision=None,
        trust_remote_code=False,
        hf_config=SimpleNamespace(model_type="qwen3"),
    ),
)


def vllm_text(tokenizer: Any, **body: Any) -> str:
    """As OnlineRenderer.preprocess_chat puts these steps together."""
    request = ChatCompletionRequest.model_validate({"model": "m", **body})
    tools: list[Json] | None = [tool.model_dump() for tool in request.tools] if request.tools else None
    params = request.build_chat_params(None, "auto").with_defaults({"tools": tools, "tokenize": False})
    form = hf.resolve_chat_template_content_format(
        None, tools, params.chat_template_content_format, tokenizer, model_config=MODEL
    )
    conversation, _, _ = parse_chat_messages(request.messages, MODEL, form)
    return cast(Any, hf).safe_apply_chat_template(
        MODEL, tokenizer, conversation, **params.get_apply_chat_template_kwargs()
    )


def vllm_ids(tokenizer: Any, **body: Any) -> list[int]:
    return tokenizer.encode(vllm_text(tokenizer, **body), add_special_tokens=False)
