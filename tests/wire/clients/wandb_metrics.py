"""A run with metrics alone, which wandb 0.22 too can log without a key."""

import json
import sys

import wandb

with wandb.init(project=sys.argv[1], id="only", dir=sys.argv[2]) as run:
    for step in range(5):
        run.log({"loss": 1 / (step + 1)})
print(json.dumps({"entity": run.entity}))
