"""Messages and tools to the text that vLLM prompts a model with: its chat template over what vLLM makes of a request.

Only for what carries no token ids. What vLLM 0.32 does before a template sees a request is done here as well; that the
two agree is tested over many templates. A model whose prompts vLLM builds without its template (GPT-OSS, tokenizers of
mistral-common) is rendered by its template all the same, with Hugging Face's tokenizer, which is one reason why such
context is counted.
"""

import json
from functools import lru_cache
from typing import Any, Literal, cast

from transformers import PreTrainedTokenizerBase

from engine.content_format import content_format

Json = dict[str, Any]
Format = Literal["string", "openai"]

# Arguments of the tokenizer, for which a request could ask as well: a padding of any length, for one.
TOKENIZER_ARGUMENTS = {
    "tokenize",
    "padding",
    "truncation",
    "max_length",
    "return_tensors",
    "return_dict",
    "return_assistant_tokens_mask",
    "tokenizer_kwargs",
}
TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal", "thinking": "thinking"}
BILLING_HEADER = "x-anthropic-billing-header"  # of some clients, another with every request: vLLM leaves the line out


def rendered(
    messages: list[Json],
    tools: list[Json] | None,
    tokenizer: PreTrainedTokenizerBase,
    options: Json,
    **how: Any,
) -> Any:
    """`options` are a request's `chat_template_kwargs`, `how` goes to the tokenizer."""
    described = tools_as_printed(tools)
    if options.get("chat_template"):
        # It may run without end, and no limit applies here, unlike for completions in the server.
        raise ValueError("a chat template of the request's own is not rendered anew: send the token ids")
    template = template_of(tokenizer, described)
    conversation = [as_printed(message, content_format(template)) for message in messages]
    if any(message["role"] == "developer" for message in conversation) and not knows_developers(template):
        conversation = with_one_system_message(conversation)
    told = {name: value for name, value in options.items() if name not in TOKENIZER_ARGUMENTS}
    return cast(Any, tokenizer).apply_chat_template(
        conversation, tools=described, chat_template=template, **told, **({"tokenize": False} | how)
    )


def template_of(tokenizer: PreTrainedTokenizerBase, tools: list[Json] | None) -> str:
    """A tokenizer may have several, of which one is for tools."""
    return cast(Any, tokenizer).get_chat_template(None, tools=tools)


def tools_as_printed(tools: list[Json] | None) -> list[Json] | None:
    """In vLLM's order, with null for what is absent: a template that prints a whole tool shows both."""
    return [tool_as_printed(tool) for tool in tools] if tools else None


def tool_as_printed(tool: Json) -> Json:
    function: Json = tool["function"]
    later = function.get("defer_loading")
    later = tool.get("defer_loading") if later is None else later
    known = {"strict": function.get("strict"), "defer_loading": later}
    return {
        "type": tool.get("type", "function"),
        "function": {
            "name": function["name"],
            "description": function.get("description"),
            "parameters": function.get("parameters"),
            **without_null(known),
        },
        **without_null({"defer_loading": tool.get("defer_loading")}),
    }


def without_null(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def as_printed(message: Json, form: Format) -> Json:
    """What of a message a template sees."""
    role: str = message["role"]
    texts = texts_of(message)
    # Empty parts are left out of a text, but not where a list is put together for a tool.
    content: Any = "\n".join(texts if form == "openai" else filter(None, texts))
    if form == "openai" and role != "tool":
        content = [{"type": "text", "text": text} for text in texts]
    printed: Json = {"role": role, "content": content}
    if role == "assistant":
        if calls := message.get("tool_calls"):
            printed["tool_calls"] = [call_as_printed(call) for call in calls]
        if (reasoning := reasoning_of(message)) is not None:
            printed |= {"reasoning": reasoning, "reasoning_content": reasoning}
    if role == "tool" and "tool_call_id" in message:
        printed["tool_call_id"] = message["tool_call_id"]
    if isinstance(message.get("name"), str):
        printed["name"] = message["name"]
    if role == "developer":
        printed["tools"] = message.get("tools")
    return printed


def texts_of(message: Json) -> list[str]:
    content: Any = message.get("content")
    if content is None:
        return []
    parts = cast(list[Any], [content] if isinstance(content, str) else content)
    texts = [text for part in parts if (text := text_of_part(part)) is not None]
    if message["role"] != "system":
        return texts
    cut = [text.partition("\n")[2] if text.startswith(BILLING_HEADER) else text for text in texts]
    return [after for before, after in zip(texts, cut, strict=True) if after or not before.startswith(BILLING_HEADER)]


def text_of_part(part: Any) -> str | None:
    """None for a part that is empty."""
    if isinstance(part, str):
        return part
    kind: Any = part["type"]
    if kind not in TEXT_PARTS:
        raise ValueError(f"a content part of type {kind!r} cannot be rendered anew, only text can")
    return part.get(TEXT_PARTS[kind])


def reasoning_of(message: Json) -> str | None:
    reasoning = message.get("reasoning")
    return message.get("reasoning_content") if reasoning is None else reasoning


def call_as_printed(call: Json) -> Json:
    function: Json = call["function"]
    # An empty object, as vLLM has it, even where the sampled text is not one.
    ordered = {"arguments": arguments_of(function.get("arguments")) or {}, "name": function["name"]}
    return {**({"id": call["id"]} if "id" in call else {}), "function": ordered, "type": call.get("type", "function")}


def arguments_of(given: Any) -> Json | None:
    """None for what is no object."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return None
    return cast(Json, given) if isinstance(given, dict) else None


@lru_cache(maxsize=8)
def knows_developers(template: str) -> bool:
    return '"developer"' in template or "'developer'" in template


def with_one_system_message(conversation: list[Json]) -> list[Json]:
    """Developers' messages as system messages, and all of these as one at the beginning."""
    system = [message for message in conversation if message["role"] in ("system", "developer")]
    others = [message for message in conversation if message["role"] not in ("system", "developer")]
    if len(system) == 1 and conversation[0] is system[0]:
        return [{**{k: v for k, v in system[0].items() if k != "tools"}, "role": "system"}, *others]
    texts = [joined(message["content"]) for message in system]
    return [{"role": "system", "content": "\n\n".join(text for text in texts if text)}, *others]


def joined(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)
