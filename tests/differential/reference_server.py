"""
The trace API as weave's own server code answers it, over HTTP, for comparison with Heddle's answers.

    python reference_server.py clickhouse|sqlite FOLDER
    python reference_server.py clickhouse-server http://USER:PASSWORD@HOST:PORT/DATABASE

The database of a server is made. Prints its URL when it answers. One user, any key; one request at a time, except where
ClickHouse is a server.
"""

import base64
import email.parser
import email.policy
import functools
import json
import logging
import re
import sys
import traceback
import typing
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from unused_packages import stand_in_for_unused_packages

stand_in_for_unused_packages()

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from pydantic import BaseModel, ValidationError
from weave.shared.refs_internal import InvalidInternalRef
from weave.trace_server import token_costs
from weave.trace_server import trace_server_interface as tsi
from weave.trace_server.errors import handle_server_exception
from weave.trace_server.external_to_internal_trace_server_adapter import (
    ExternalTraceServer,
    IdConverter,
)

from reference_stores import open_clickhouse, open_clickhouse_server, open_sqlite

USER = "local"

# Path → method of the trace server; the rest of the paths are made of a resource and its verbs.
ROUTES = {
    "POST /calls/stream_query": "calls_query_stream",
    "POST /calls/stats": "call_stats",
    "POST /files/query_stats": "files_stats",
    "POST /feedback/batch/create": "feedback_create_batch",
    "POST /threads/stream_query": "threads_query_stream",
    "PUT /objs/{object_id}/aliases": "obj_set_aliases",
    "POST /objs/{object_id}/aliases/remove": "obj_remove_aliases",
    "PUT /objs/{object_id}/versions/{digest}/tags": "obj_add_tags",
    "POST /objs/{object_id}/versions/{digest}/tags/remove": "obj_remove_tags",
    "GET /tags": "tags_list",
    "GET /aliases": "aliases_list",
    "POST /annotation_queues": "annotation_queue_create",
    "POST /annotation_queues/query": "annotation_queues_query_stream",
    "POST /annotation_queues/stats": "annotation_queues_stats",
    "GET /annotation_queues/{queue_id}": "annotation_queue_read",
    "PUT /annotation_queues/{queue_id}": "annotation_queue_update",
    "DELETE /annotation_queues/{queue_id}": "annotation_queue_delete",
    "POST /annotation_queues/{queue_id}/items": "annotation_queue_add_calls",
    "POST /annotation_queues/{queue_id}/items/query": "annotation_queue_items_query",
    "POST /annotation_queues/{queue_id}/items/{item_id}/progress": "annotator_queue_items_progress_update",
    "POST /v2/{entity}/{project}/calls/complete": "calls_complete",
    "POST /v2/{entity}/{project}/call/start": "call_start_v2",
    "POST /v2/{entity}/{project}/call/end": "call_end_v2",
}
VERBS = {
    "call": "start end read update",
    "calls": "delete query_stats usage",
    "cost": "create purge query",
    "feedback": "create payload_schema purge query replace stats",
    "obj": "create delete read",
    "objs": "query",
    "project": "stats",
    "refs": "read_batch",
    "table": "create create_from_digests query query_stats query_stats_batch query_stream update",
    "trace": "usage",
}
LOGGED = {"evaluation_run": "evaluation_runs", "prediction": "predictions", "score": "scores"}
for kind, plural in LOGGED.items():
    group = f"/v2/{{entity}}/{{project}}/{plural}"
    ROUTES |= {
        f"POST {group}": f"{kind}_create",
        f"GET {group}": f"{kind}_list",
        f"DELETE {group}": f"{kind}_delete",
        f"GET {group}/{{{kind}_id}}": f"{kind}_read",
        f"POST {group}/{{{kind}_id}}/finish": f"{kind}_finish",
    }
ROUTES["POST /v2/{entity}/{project}/eval_results/query"] = "eval_results_query"
TYPES = ("op", "dataset", "scorer", "model", "evaluation")
for kind in TYPES:
    group = f"/v2/{{entity}}/{{project}}/{kind}s"
    ROUTES |= {
        f"POST {group}": f"{kind}_create",
        f"GET {group}": f"{kind}_list",
        f"GET {group}/{{object_id}}/versions/{{digest}}": f"{kind}_read",
        f"DELETE {group}/{{object_id}}": f"{kind}_delete",
    }
ROUTES |= {f"POST /{noun}/{verb}": f"{noun}_{verb}" for noun, verbs in VERBS.items() for verb in verbs.split()}

# Keys of a query that may be repeated.
LISTS = (
    "digests",
    "evaluations",
    "models",
    "evaluation_run_ids",
    "prediction_ids",
    "score_ids",
)

# Keys of a query for runs that are fields of its filter.
RUN_FILTER = ("evaluations", "models", "evaluation_run_ids")

Reply = tuple[int, str, bytes]


class Ids(IdConverter):
    """Internal ids are the external ones in base64: digests of values that contain refs depend on them."""

    def ext_to_int_project_id(self, project_id: str) -> str:
        return base64.b64encode(project_id.encode()).decode()

    def int_to_ext_project_id(self, project_id: str) -> str | None:
        return base64.b64decode(project_id).decode()

    def ext_to_int_run_id(self, run_id: str) -> str:
        return self.ext_to_int_project_id(run_id) + ":" + run_id

    def int_to_ext_run_id(self, run_id: str) -> str:
        return run_id.partition(":")[2]

    def ext_to_int_user_id(self, user_id: str) -> str:
        return self.ext_to_int_project_id(user_id)

    def int_to_ext_user_id(self, user_id: str) -> str:
        return base64.b64decode(user_id).decode()


class Api:
    """Requests in, replies out; knows nothing of sockets."""

    def __init__(self, server: tsi.FullTraceServerInterface) -> None:
        # It leaves a method of its interface to whom it wraps.
        adapter: typing.Any = ExternalTraceServer
        self.server: ExternalTraceServer = adapter(server, Ids())
        self.routes = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path) + "$"), name) for path, name in ROUTES.items()
        ]

    def answer(self, method: str, target: str, headers: Message, body: bytes) -> Reply:
        try:
            return self.dispatch(method, target, headers, body)
        except RequestViolation as violation:
            return json_reply(422, {"detail": violation.errors})
        except InvalidInternalRef as error:
            return json_reply(400, {"reason": str(error)})
        except Exception as error:
            handled = handle_server_exception(error)
            if handled.status_code >= 500:
                traceback.print_exception(error)
            return json_reply(handled.status_code, handled.message)

    def dispatch(self, method: str, target: str, headers: Message, body: bytes) -> Reply:
        url = urlsplit(target)
        if url.path == "/file/create":
            return model_reply(self.server.file_create(upload_in(headers, body)))
        if url.path == "/file/content":
            content = self.server.file_content_read(validated(tsi.FileContentReadReq, parsed(body))).content
            return 200, "application/octet-stream", content
        if url.path == "/otel/v1/traces":
            return model_reply(self.server.otel_export(spans_in(headers, body)))
        if url.path == "/call/upsert_batch":
            return model_reply(self.upsert(validated(tsi.CallCreateBatchReq, parsed(body))))
        for pattern, name in self.routes:
            match = pattern.match(f"{method} {url.path}")
            if match is not None:
                given = {key: unquote(value) for key, value in match.groupdict().items()}
                query: dict[str, typing.Any] = {
                    key: values if key in LISTS else values[-1]
                    for key, values in parse_qs(url.query, keep_blank_values=True).items()
                }
                if name == "evaluation_run_list":
                    query["filter"] = {key: query.pop(key) for key in RUN_FILTER if key in query}
                return self.call(name, {**parsed(body), **query, **given})
        return json_reply(404, {"detail": "Not Found"})

    def upsert(self, request: tsi.CallCreateBatchReq) -> tsi.CallCreateBatchRes:
        """One by one, because only single requests get their ids translated."""
        batch = typing.cast(tsi.CallCreateBatchReq, with_user(request)).batch
        results = [
            self.server.call_start(item.req)
            if isinstance(item, tsi.CallBatchStartMode)
            else self.server.call_end(item.req)
            for item in batch
        ]
        return tsi.CallCreateBatchRes(res=results)

    def call(self, name: str, fields: dict) -> Reply:
        model = request_model(name)
        if "entity" in fields and "project" in fields:
            project_id = f"{fields.pop('entity')}/{fields.pop('project')}"
            fields |= {"project_id": project_id} if "project_id" in model.model_fields else {}
        result = getattr(self.server, name)(with_user(validated(model, fields)))
        if isinstance(result, BaseModel):
            return model_reply(result)
        lines = "".join(f"{row.model_dump_json()}\n" for row in result)
        return 200, "application/jsonl", lines.encode()


@functools.cache
def request_model(name: str) -> type[BaseModel]:
    return typing.get_type_hints(getattr(tsi.FullTraceServerInterface, name))["req"]


class RequestViolation(Exception):
    """A request that its model does not allow."""

    def __init__(self, errors: list) -> None:
        self.errors = errors


def validated(model: type[BaseModel], fields: object) -> typing.Any:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise RequestViolation(json.loads(error.json(include_url=False, include_context=False))) from error


def parsed(body: bytes) -> dict:
    try:
        fields = json.loads(body) if body else {}
    except ValueError as error:
        raise RequestViolation([{"type": "json_invalid", "loc": ["body"], "msg": str(error)}]) from error
    if not isinstance(fields, dict):
        raise RequestViolation([{"type": "model_attributes_type", "loc": ["body"], "msg": "No object"}])
    return fields


def with_user(request: BaseModel) -> BaseModel:
    """Marks every part that can have an author as the one user's, as the service does."""
    parts = [
        request,
        *(getattr(request, name, None) for name in ("start", "obj", "req")),
        *getattr(request, "batch", []),
    ]
    for part in parts:
        if isinstance(part, BaseModel):
            if "wb_user_id" in type(part).model_fields:
                author: typing.Any = part
                author.wb_user_id = USER
            if part is not request:
                with_user(part)
    return request


def upload_in(headers: Message, body: bytes) -> tsi.FileCreateReq:
    head = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
    form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
    text = {name: part.get_content().strip() for name, part in parts.items() if name != "file"}
    if "file" not in parts:
        raise RequestViolation([{"type": "missing", "loc": ["body", "file"], "msg": "Field required"}])
    file = parts["file"]
    fields = {
        "name": file.get_filename(),
        "content": file.get_payload(decode=True),
        **text,
    }
    return validated(tsi.FileCreateReq, fields)


def spans_in(headers: Message, body: bytes) -> tsi.OTelExportReq:
    def hex_ids_as_base64(pairs: list[tuple[str, typing.Any]]) -> dict:
        # OTLP writes ids in hex, and protobuf's own JSON writes bytes in base64.
        ids = ("traceId", "spanId", "parentSpanId")
        return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ids else v for k, v in pairs}

    document = json.loads(body, object_pairs_hook=hex_ids_as_base64)
    message = json_format.ParseDict(document, ExportTraceServiceRequest())
    project_id = headers["project_id"]
    entity, _, project = project_id.partition("/")
    spans = [
        tsi.ProcessedResourceSpans(entity=entity, project=project, run_id=None, resource_spans=spans)
        for spans in message.resource_spans
    ]
    return tsi.OTelExportReq(processed_spans=spans, project_id=project_id, wb_user_id=USER)


def json_reply(status: int, body: object) -> Reply:
    return status, "application/json", json.dumps(body).encode()


def model_reply(model: BaseModel) -> Reply:
    return 200, "application/json", model.model_dump_json().encode()


def serve(api: Api, server_class: type[HTTPServer]) -> None:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, content_type, reply = api.answer(self.command, self.path, self.headers, body)
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = server_class(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def main() -> None:
    logging.disable(logging.WARNING)
    # The check wants ids of the hosted service's own form; the ones here come from the tests alone.
    token_costs.is_project_id_sql_injection_safe = lambda project_id: None
    store, place = sys.argv[1:]
    if store == "clickhouse-server":
        serve(Api(open_clickhouse_server(place)), ThreadingHTTPServer)
        return
    opened = {"clickhouse": open_clickhouse, "sqlite": open_sqlite}[store]
    serve(Api(opened(Path(place))), HTTPServer)


if __name__ == "__main__":
    main()
