"""Uses the client that openapi-python-client made of /openapi.json; prints what it saw as JSON."""

import datetime
import json
import sys
import uuid
from io import BytesIO

from client import AuthenticatedClient
from client.api.trace import (
    call_read,
    calls_complete,
    calls_query_stats,
    calls_query_stream,
    feedback_create,
    feedback_query,
    file_content,
    file_create,
    obj_create,
    obj_read,
    version,
)
from client.api.training import list_models
from client.models import (
    CallReadBody,
    CallsCompleteBody,
    CallsQueryStatsBody,
    CallsQueryStreamBody,
    FeedbackCreateReq,
    FeedbackQueryBody,
    FileContentBody,
    FileCreateBody,
    ObjCreateBody,
    ObjReadBody,
    Operand,
    Operation,
    Query,
)
from client.types import File

base_url, key, entity = sys.argv[1:]
api = AuthenticatedClient(base_url=base_url, token=key)
project = "generated-python"
project_id = f"{entity}/{project}"
call_id = str(uuid.uuid4())
now = datetime.datetime.now(datetime.UTC).isoformat()

versioned = version.sync(client=api)
call = {
    "project_id": project_id,
    "id": call_id,
    "trace_id": str(uuid.uuid4()),
    "op_name": "add",
    "started_at": now,
    "ended_at": now,
    "attributes": {},
    "inputs": {"a": 1},
    "output": 3,
    "summary": {},
}
calls_complete.sync(
    entity, project, client=api, body=CallsCompleteBody.from_dict({"batch": [call]})
)
read = call_read.sync(client=api, body=CallReadBody(project_id=project_id, id=call_id))
is_add = Operand(eq=[Operand(get_field="op_name"), Operand(literal="add")])
query = Query(
    expr=Operation(and_=[is_add, Operand(not_=[Operand(or_=[Operand(not_=[is_add])])])])
)
stats = calls_query_stats.sync(
    client=api, body=CallsQueryStatsBody(project_id=project_id, query=query)
)
lines = calls_query_stream.sync_detailed(
    client=api, body=CallsQueryStreamBody(project_id=project_id, query=query)
)
created = obj_create.sync(
    client=api,
    body=ObjCreateBody.from_dict(
        {
            "obj": {
                "project_id": project_id,
                "object_id": "settings",
                "val": {"depth": 1},
            }
        }
    ),
)
object_read = obj_read.sync(
    client=api,
    body=ObjReadBody(
        project_id=project_id, object_id="settings", digest=created.digest
    ),
)
feedback_create.sync(
    client=api,
    body=FeedbackCreateReq.from_dict(
        {
            "project_id": project_id,
            "weave_ref": f"weave:///{project_id}/call/{call_id}",
            "feedback_type": "wandb.note.1",
            "payload": {"note": "good"},
        }
    ),
)
feedback = feedback_query.sync(
    client=api, body=FeedbackQueryBody(project_id=project_id)
)
stored = file_create.sync(
    client=api,
    body=FileCreateBody(
        project_id=project_id,
        file=File(payload=BytesIO(b"some bytes"), file_name="a.txt"),
    ),
)
content = file_content.sync(
    client=api, body=FileContentBody(project_id=project_id, digest=stored.digest)
)
models = list_models.sync(client=api)
refused = obj_read.sync_detailed(
    client=api,
    body=ObjReadBody(project_id=project_id, object_id="nothing", digest="none"),
)

seen = {
    "version": "present" if versioned is not None else None,
    "read": read.call.op_name,
    "counted": stats.count,
    "listed": json.loads(lines.content)["id"] == call_id,
    "object": object_read.obj.val,
    "feedback": [row["payload"] for row in feedback.to_dict()["result"]],
    "file": content.payload.read().decode(),
    "models": len(models.data),
    "refused": [refused.status_code.value, type(refused.parsed).__name__],
}
print(json.dumps(seen))
