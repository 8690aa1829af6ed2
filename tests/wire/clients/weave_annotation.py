"""A queue of calls that people review one by one, made with weave. Prints what it read back."""

import json
from typing import Any

import weave
from weave.trace.weave_client import WeaveClient

CALLS = 1200


@weave.op
def answer(number: int) -> dict[str, Any]:
    return {"text": f"answer {number}"}


def queues(client: WeaveClient, scorer_ref: str) -> dict[str, Any]:
    queue_id = client.create_annotation_queue(
        name="Doubtful answers", scorer_refs=[scorer_ref], description="Is it polite?"
    )
    other_id = client.create_annotation_queue(name="others", scorer_refs=[])
    queue = client.get_annotation_queue(queue_id)
    renamed = client.update_annotation_queue(other_id, name="the others")
    listed = client.list_annotation_queues(
        sort_by=[{"field": "name", "direction": "asc"}]
    )
    named = client.list_annotation_queues(name="DOUBT")
    deleted = client.delete_annotation_queue(other_id)
    return {
        "read": [queue.name, queue.description, queue.scorer_refs == [scorer_ref]],
        "renamed": [renamed.name, renamed.updated_at > renamed.created_at],
        "listed": [each.name for each in listed],
        "named": [each.id == queue_id for each in named],
        "deleted": deleted.deleted_at is not None,
        "left": [each.id == queue_id for each in client.list_annotation_queues()],
    }


def items(client: WeaveClient, queue_id: str) -> dict[str, Any]:
    calls = [answer.call(number)[1] for number in range(CALLS)]
    ids = [call.id for call in calls if call.id is not None]
    fields = ["inputs.number", "output.text"]
    half = client.add_calls_to_annotation_queue(
        queue_id, call_ids=ids[: CALLS // 2], display_fields=fields
    )
    rest = client.add_calls_to_annotation_queue(
        queue_id, call_ids=ids, display_fields=fields
    )
    listed = client.list_annotation_queue_items(queue_id)
    page = client.list_annotation_queue_items(
        queue_id,
        sort_by=[{"field": "call_started_at", "direction": "desc"}],
        limit=2,
        offset=1,
        include_position=True,
    )
    is_queued = {
        "$expr": {
            "$eq": [
                {"$getField": "annotation_queue_items.queue_id"},
                {"$literal": queue_id},
            ]
        }
    }
    return {
        "added": [half.added_count, half.duplicates, rest.added_count, rest.duplicates],
        "listed": [item.call_id for item in listed] == ids,
        "fields": listed[0].display_fields,
        "page": [[ids.index(item.call_id), item.position_in_queue] for item in page],
        "calls": sum(1 for _ in client.get_calls(query=is_queued)),
    }


def progress(client: WeaveClient, queue_id: str, annotation_ref: str) -> dict[str, Any]:
    def unstarted(limit: int | None = None) -> list[Any]:
        return client.list_annotation_queue_items(
            queue_id, filter={"annotation_states": ["unstarted"]}, limit=limit
        )

    def become(item_id: str, state: str) -> list[Any]:
        changed = client.server.annotator_queue_items_progress_update(
            {
                "project_id": client.project_id,
                "queue_id": queue_id,
                "item_id": item_id,
                "annotation_state": state,
            }
        ).item
        return [
            changed.annotation_state,
            changed.annotator_user_id,
            changed.updated_at > changed.created_at,
        ]

    (first,) = unstarted(1)
    started = become(first.id, "in_progress")
    (second,) = unstarted(1)
    client.server.feedback_create(
        {
            "project_id": client.project_id,
            "weave_ref": client.get_call(first.call_id).ref.uri(),
            "feedback_type": "wandb.annotation.polite",
            "annotation_ref": annotation_ref,
            "payload": {"value": True},
            "queue_id": queue_id,
        }
    )
    client.flush()
    finished = become(first.id, "completed")
    skipped = become(second.id, "skipped")
    (stats,) = client.get_annotation_queue_stats([queue_id])
    from_queue = {"$expr": {"$eq": [{"$getField": "queue_id"}, {"$literal": queue_id}]}}
    return {
        "states": [started, finished, skipped],
        "next": second.call_id != first.call_id,
        "unstarted": len(unstarted()),
        "stats": [stats.total_items, stats.completed_items],
        "feedback": [
            [item.feedback_type, item.payload, item.queue_id == queue_id]
            for item in client.get_feedback(query=from_queue)
        ],
    }


def main() -> None:
    client = weave.init("whole/annotation")
    spec = weave.AnnotationSpec(name="Polite", field_schema={"type": "boolean"})
    spec_ref = weave.publish(spec, "polite").uri()
    seen = {"queues": queues(client, spec_ref)}
    (queue,) = client.list_annotation_queues()
    seen["items"] = items(client, queue.id)
    seen["progress"] = progress(client, queue.id, spec_ref)
    weave.finish()
    print(json.dumps(seen))


main()
