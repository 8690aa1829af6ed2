"""Whether a chat template goes through the parts of a message's content, or takes it for text.

vLLM passes a list of parts to the first kind of template and text to the second, and detects the kind by syntax: a
template that loops over the content of a message, or over what it names `content`, wants parts. The same rules are
here, so that a conversation that is rendered anew looks as it did; they follow vllm/renderers/hf.py (0.32, Apache-2.0).
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, cast

from jinja2 import nodes
from transformers.utils import chat_template_utils

Node = nodes.Node


@lru_cache(maxsize=8)
def content_format(template: str) -> Literal["string", "openai"]:
    """Templates with an error count as text: rendering them reports the error."""
    try:
        environment = cast(Any, chat_template_utils)._compile_jinja_template(template).environment
        root = cast(nodes.Template, environment.parse(template))
        return "openai" if loops_over_content(root) else "string"
    except Exception:
        return "string"


def loops_over_content(root: nodes.Template) -> bool:
    messages = named_after(root, "messages")
    items = {target_of(loop) for loop in root.find_all(nodes.For) if any(is_of(loop.iter, name) for name in messages)}
    in_macros: set[int] = set()
    for macro in root.find_all(nodes.Macro):
        parameters = set(content_parameters(root, macro, items))
        for loop in macro.find_all(nodes.For):
            in_macros.add(id(loop))
            if isinstance(loop.iter, nodes.Name) and loop.iter.name in parameters:
                return True
    for loop in root.find_all(nodes.For):
        if any(is_of(loop.iter, item, "content") for item in items):
            return True
        if id(loop) not in in_macros and isinstance(loop.iter, nodes.Name) and loop.iter.name == "content":
            return True
    return False


def named_after(root: nodes.Template, name: str) -> list[str]:
    """A variable and those that are assigned from it."""
    names = [name]
    for known in names:
        for assign in root.find_all(nodes.Assign):
            if is_of(assign.node, known):
                assert isinstance(assign.target, nodes.Name)
                if assign.target.name not in names:
                    names.append(assign.target.name)
    return names


def content_parameters(root: nodes.Template, macro: nodes.Macro, items: set[str]) -> Iterator[str]:
    """The parameters of a macro that are given the content of a message somewhere."""
    names = [argument.name for argument in macro.args]
    for call in root.find_all(nodes.Call):
        if not (isinstance(call.node, nodes.Name) and call.node.name == macro.name):
            continue
        given = [*zip(names, call.args, strict=False), *((keyword.key, keyword.value) for keyword in call.kwargs)]
        for name, value in given:
            if name in names and any(is_of(value, item, "content") for item in items):
                yield name


def target_of(loop: nodes.For) -> str:
    assert isinstance(loop.target, nodes.Name)
    return loop.target.name


def is_of(node: Node, variable: str, member: str | None = None) -> bool:
    """The variable, or its member, also through filters, tests and slices."""
    if isinstance(node, nodes.Filter | nodes.Test):
        return node.node is not None and is_of(node.node, variable, member)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        return is_of(node.node, variable, member)
    if member is None:
        return is_variable(node, variable)
    if isinstance(node, nodes.Getitem):
        constant = isinstance(node.arg, nodes.Const) and node.arg.value == member
        return constant and is_variable(node.node, variable)
    return isinstance(node, nodes.Getattr) and node.attr == member and is_variable(node.node, variable)


def is_variable(node: Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.ctx == "load" and node.name == name
