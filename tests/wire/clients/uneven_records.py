"""A dataset whose rows have different columns, by weave, and a run with losses on both sides of zero and an alert, by wandb."""

import json
import os
import tempfile

import wandb
import weave

ROWS = 60

project = os.environ["PROJECT"]
client = weave.init(project)
rows: list[dict[str, object]] = [{"question": f"Question {n}"} for n in range(ROWS)]
rows[40]["note"] = "only this row has one"
weave.publish(weave.Dataset(name="uneven", rows=rows))
client.flush()

entity, name = project.split("/")
with wandb.init(
    entity=entity, project=name, id="losses", dir=tempfile.mkdtemp()
) as run:
    for step in range(10):
        run.log({"loss": 4 - step, "time": step + 1})
    run.alert("Losses are odd", "They cross zero.", level=wandb.AlertLevel.WARN)
print(json.dumps({"run": "losses"}))
