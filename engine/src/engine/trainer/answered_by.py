"""Which model answered a recorded request. Clients record all requests of a rollout, also those to judges and to models
that play users: only answers of the model that is trained are trained on."""

from typing import Any, cast

Json = dict[str, Any]
ARTIFACT_PREFIX = "wandb-artifact:///"


def request_of(element: Json) -> Json:
    """Beside messages and tools, where the client recorded the whole exchange; else empty."""
    return member(member(element, "exchange"), "request")


def is_of_another_model(element: Json, model: str) -> bool:
    """`model` is ENTITY/PROJECT/NAME. An answer without a record of its request, or whose record names no model, counts
    as the model's own."""
    name = model_of(element)
    return name is not None and not names_model(name, model)


def model_of(element: Json) -> str | None:
    """The name by which a recorded request asked for a model; else the one in its response."""
    response = member(member(element, "exchange"), "response")
    named: list[Any] = [request_of(element).get("model"), response.get("model")]
    return next((name for name in named if isinstance(name, str) and name), None)


def names_model(name: str, model: str) -> bool:
    """Whether a name means the model at any of its steps. Wire: wandb-artifact:///ENTITY/PROJECT/NAME:STEP, the same
    without its prefix, and NAME:STEP or NAME@STEP."""
    path = name.removeprefix(ARTIFACT_PREFIX).partition(":")[0].partition("@")[0]
    return path == model or path == model.rpartition("/")[2]


def member(element: Json, name: str) -> Json:
    found: Any = element.get(name)
    return cast(Json, found) if isinstance(found, dict) else {}
