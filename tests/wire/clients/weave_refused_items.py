"""Batches of calls and of feedback in which the server refuses one item. Prints what became of the others."""

import json
import sys

import weave
from waiting import wait_for

NO_REF = "weave:///nowhere"


@weave.op
def answer(question: str) -> str:
    return "yes"


client = weave.init(sys.argv[1])

call = answer.call("first")[1]
for question in ("second", NO_REF, "third"):
    answer(question)
wait_for(client, lambda: len(client.get_calls()) == 3)

read = client.get_call(call.id)
read.feedback.add_note("good")
read.feedback.add("latency", {"ms": 5})
read.feedback.add_reaction("no emoji")
read.feedback.add_reaction("👍")
wait_for(client, lambda: len(client.get_call(call.id).feedback) == 3)

print(
    json.dumps(
        {
            "calls": [each.inputs["question"] for each in client.get_calls()],
            "feedback": [
                each.feedback_type for each in client.get_call(call.id).feedback
            ],
        }
    )
)
weave.finish()
