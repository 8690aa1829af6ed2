"""Monitors on the server: published by weave, they score the later calls of an op. Prints the scores that weave reads."""

import json
import time
from typing import Any

import weave
from weave.conversation import Message, log_turn
from weave.scorers import ValidJSONScorer

WAIT_SECONDS = 300

client = weave.init("local/monitored")


@weave.op
def answer(question: str) -> str:
    return '{"right": true}' if "JSON" in question else "no"


@weave.op
def other(question: str) -> str:
    return question


class Brief(weave.Scorer):
    limit: int

    @weave.op
    def score(self, *, output: str) -> bool:
        return len(output) <= self.limit


def feedback_of(call: Any) -> dict[str, Any]:
    return {one.feedback_type: one.payload["output"] for one in call.feedback.refresh()}


answer("before")
client.flush()
monitor = weave.Monitor(
    name="watcher",
    op_names=["answer"],
    scorers=[ValidJSONScorer(), Brief(limit=2)],
    sampling_rate=1,
    query={
        "$expr": {
            "$not": [{"$eq": [{"$getField": "inputs.question"}, {"$literal": "skip"}]}]
        }
    },
)
ref = monitor.activate()
weave.Monitor(
    name="turns", op_names=["weave.genai.turn_ended"], scorers=[Brief(limit=100)]
).activate()
client.flush()
log_turn(
    conversation_id="talk",
    agent_name="helper",
    messages=[Message(role="user", content="hi")],
    output_messages=[Message(role="assistant", content='{"said": "hello"}')],
)
_, json_call = answer.call("JSON please")
_, plain_call = answer.call("please")
_, skipped_call = answer.call("skip")
_, other_call = other.call("JSON please")
client.flush()
until = time.monotonic() + WAIT_SECONDS
while time.monotonic() < until and not all(
    len(feedback_of(call)) == 2 for call in (json_call, plain_call)
):
    time.sleep(0.2)
BRIEF = {"$literal": "wandb.runnable.Brief"}
query = {"$expr": {"$eq": [{"$getField": "feedback_type"}, BRIEF]}}
turns: list[Any] = []
while time.monotonic() < until and not turns:
    triggered = [one for one in client.get_feedback(query) if one.trigger_ref]
    turns = [one for one in triggered if "/object/turns:" in one.trigger_ref]
    time.sleep(0.2)
scored = list(client.get_calls(scored_by="ValidJSONScorer"))
triggers = {one.trigger_ref for one in json_call.feedback.refresh()}
calls = list(
    client.get_calls(
        filter={"op_names": [f"weave:///{client.entity}/{client.project}/op/answer:*"]}
    )
)
print(
    json.dumps(
        {
            "json": feedback_of(json_call),
            "plain": feedback_of(plain_call),
            "skipped": feedback_of(skipped_call),
            "other": feedback_of(other_call),
            "before": feedback_of(min(calls, key=lambda call: call.started_at)),
            "scored_by": sorted(call.inputs["question"] for call in scored),
            "turns": [one.payload["output"] for one in turns],
            "by_the_monitor": triggers == {ref.uri},
        }
    )
)
