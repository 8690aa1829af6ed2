"""Feedback of every kind and costs, written with weave. Prints what it read back."""

import asyncio
import datetime
import json
from typing import Any

import weave
from waiting import wait_for
from weave.trace.weave_client import WeaveClient


@weave.op
def answer(question: str) -> dict[str, Any]:
    return {
        "model": "house-model",
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        "text": question.upper(),
    }


@weave.op
def shouted(output: dict[str, Any]) -> bool:
    return output["text"].isupper()


class Length(weave.Scorer):
    at_least: int

    @weave.op
    def score(self, *, output: dict[str, Any]) -> dict[str, Any]:
        return {
            "long": len(output["text"]) >= self.at_least,
            "length": len(output["text"]),
        }


def feedback(client: WeaveClient) -> dict[str, Any]:
    _, call = answer.call("why?")
    client.flush()
    reaction = call.feedback.add_reaction("👍", creator="Ada")
    call.feedback.add_note("well said")
    call.feedback.add("correctness", {"value": 0.75, "why": ["a", None]})
    spec = weave.AnnotationSpec(
        name="Taste", field_schema={"type": "integer", "minimum": 1, "maximum": 5}
    )
    ref = weave.publish(spec, "taste")
    call.feedback.add("wandb.annotation.taste", {"value": 4}, annotation_ref=ref.uri())
    client.flush()
    read_spec = ref.get()
    before = {item.feedback_type: item for item in call.feedback.refresh()}
    by_reaction = len(list(client.get_feedback(reaction="👍")))
    call.feedback.purge(reaction)
    with_feedback = client.get_call(call.id, include_feedback=True)
    by_annotation = {
        "$expr": {
            "$gte": [
                {
                    "$convert": {
                        "input": {
                            "$getField": "feedback.[wandb.annotation.taste].payload.value"
                        },
                        "to": "double",
                    }
                },
                {"$literal": 4},
            ]
        }
    }
    return {
        "types": sorted(before),
        "reaction": [
            before["wandb.reaction.1"].payload,
            before["wandb.reaction.1"].creator,
        ],
        "note": before["wandb.note.1"].payload,
        "custom": before["correctness"].payload,
        "annotation": before["wandb.annotation.taste"].payload,
        "spec": [
            read_spec.field_schema,
            read_spec.value_is_valid(3),
            read_spec.value_is_valid(9),
        ],
        "after_purge": sorted(
            item.feedback_type for item in client.get_call(call.id).feedback
        ),
        "included": sorted(
            item["feedback_type"] for item in with_feedback.summary["weave"]["feedback"]
        ),
        "found": [
            found.id == call.id for found in client.get_calls(query=by_annotation)
        ],
        "kinds": len(client.get_feedback(limit=10)),
        "by_reaction": by_reaction,
    }


def scores(client: WeaveClient) -> dict[str, Any]:
    _, call = answer.call("how long?")
    scorer = Length(name="length", at_least=5)
    by_op = asyncio.run(call.apply_scorer(shouted))
    by_object = asyncio.run(call.apply_scorer(scorer))
    wait_for(client, lambda: len(list(client.get_call(call.id).feedback)) == 2)
    kept = {item.feedback_type: item for item in client.get_call(call.id).feedback}
    return {
        "results": [by_op.result, by_object.result],
        "kept": {kind: item.payload["output"] for kind, item in kept.items()},
        "call_refs": [
            kept["wandb.runnable.shouted"].call_ref == by_op.score_call.ref.uri(),
            kept["wandb.runnable.length"].call_ref == by_object.score_call.ref.uri(),
        ],
        "runnable": "/object/length:"
        in str(kept["wandb.runnable.length"].runnable_ref),
        "scored_by": [
            found.id == call.id
            for found in client.get_calls(scored_by=["shouted", "length"])
        ],
        "score_call": client.get_call(by_object.score_call.id).output["length"],
    }


def costs(client: WeaveClient) -> dict[str, Any]:
    old = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
    first = client.add_cost("house-model", 1, 2, effective_date=old)
    second = client.add_cost("house-model", 0.5, 0.25)
    other = client.add_cost("other-model", 3, 4)
    _, call = answer.call("how much?")
    client.flush()
    priced = client.get_call(call.id, include_costs=True).summary["weave"]["costs"]
    by_query = next(
        iter(client.get_calls(filter={"call_ids": [call.id]}, include_costs=True))
    )
    listed = client.query_costs(llm_ids=["house-model"])
    one = client.query_costs(second.ids[0][0])
    client.purge_costs([ids[0] for ids in (*second.ids, *other.ids)])
    left = client.query_costs()
    repriced = client.get_call(call.id, include_costs=True).summary["weave"]["costs"]
    shown = priced["house-model"]
    return {
        "tokens": [
            shown["prompt_tokens"],
            shown["completion_tokens"],
            shown["requests"],
        ],
        "total": [
            shown["prompt_tokens_total_cost"],
            shown["completion_tokens_total_cost"],
        ],
        "same_in_list": dict(by_query.summary["weave"]["costs"]["house-model"])
        == dict(shown),
        "listed": sorted(
            [cost.prompt_token_cost, cost.completion_token_cost] for cost in listed
        ),
        "one": [cost.prompt_token_cost for cost in one],
        "left": [cost.id == first.ids[0][0] for cost in left],
        "repriced": repriced["house-model"]["prompt_tokens_total_cost"],
    }


def main() -> None:
    client = weave.init("whole/scoring")
    seen = {
        "feedback": feedback(client),
        "scores": scores(client),
        "costs": costs(client),
    }
    weave.finish()
    print(json.dumps(seen))


main()
