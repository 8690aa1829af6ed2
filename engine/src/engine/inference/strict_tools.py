"""Arguments of a tool that must be called follow the tool's schema.

vLLM constrains the arguments of a required or a named tool only where the tool says `strict: true`, and a model that
is not sure of itself then writes `true`, or members that the schema does not have. The gateway cannot say it in the
request: `strict` is a part of the tool that templates print. The end marker of a call may not occur within it, where
vLLM's parser would take it for the end, nor unlimited white space. vLLM finds this as a plugin, by the entry point
in `heddle_engine-0.1.0.dist-info`.
"""

from collections.abc import Sequence
from typing import Any

MARKS = ["<tool_call>", "</tool_call>"]
"""The text around a call."""
WHITESPACE_MAX = 2


def register() -> None:
    """May be called more than once."""
    from vllm.parser import abstract_parser
    from vllm.tool_parsers import structural_tag_registry as registry

    resolve = registry.resolve_tool_strictness
    make_tag = registry.get_model_structural_tag
    if getattr(resolve, "is_strict", False):
        return

    def resolve_tool_strictness(tools: Sequence[Any], tool_choice: Any, strict_level: Any) -> Sequence[Any] | None:
        if is_forced(tool_choice):
            tools = [tool if says_strict(tool) else registry._with_tool_strict(tool, True) for tool in tools]  # pyright: ignore[reportPrivateUsage]
        return resolve(tools, tool_choice, strict_level)

    def get_model_structural_tag(model: str, tools: Any, tool_choice: Any, *rest: Any, **named: Any) -> Any:
        tag = make_tag(model, tools, tool_choice, *rest, **named)
        if tag is not None and is_forced(tool_choice):
            limit_schemas(tag)
        return tag

    resolve_tool_strictness.is_strict = True  # pyright: ignore[reportFunctionMemberAccess]
    for module in (registry, abstract_parser):
        setattr(module, resolve.__name__, resolve_tool_strictness)
    setattr(registry, make_tag.__name__, get_model_structural_tag)


def is_forced(tool_choice: Any) -> bool:
    return tool_choice not in (None, "none", "auto")


def says_strict(tool: Any) -> bool:
    """Whether the client says of a tool that its arguments must, or need not, follow the schema."""
    return getattr(getattr(tool, "function", tool), "strict", None) is not None


def limit_schemas(part: Any) -> None:
    """Bound every schema in a structural tag."""
    from pydantic import BaseModel
    from xgrammar.structural_tag import JSONSchemaFormat

    if isinstance(part, JSONSchemaFormat):
        part.max_whitespace_cnt = WHITESPACE_MAX
        part.excludes = MARKS
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            limit_schemas(getattr(part, name))
    elif isinstance(part, (list, tuple)):
        for item in part:  # pyright: ignore[reportUnknownVariableType]
            limit_schemas(item)
