"""What the loop asks of the server: judging, collecting, training, evaluating, comparing."""

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

JUDGE_PROMPT = "is {output} right for {question}? respond with yes or no"

POLL_SECONDS = 0.5
WAIT_SECONDS = 600
"""Far above any step on two cores; a step that hangs ends the demo."""

Json = dict[str, Any]


class Heddle:
    """The server's own endpoints, which no client library has."""

    def __init__(self, base_url: str, api_key: str, project_id: str) -> None:
        headers = {"authorization": f"Bearer {api_key}"}
        self.http = httpx.Client(base_url=base_url, headers=headers, timeout=WAIT_SECONDS)
        self.project_id = project_id

    def post(self, path: str, body: Json) -> Json:
        return self._reply(self.http.post(path, json=body))

    def get(self, path: str) -> Json:
        return self._reply(self.http.get(path))

    def _reply(self, response: httpx.Response) -> Json:
        if response.is_error:
            raise RuntimeError(f"{response.request.url.path}: {response.status_code} {response.text}")
        return response.json()

    def publish(self, class_name: str, base: str, fields: Json, name: str | None = None) -> str:
        """Publishes an object of a class the server knows; returns its ref."""
        val = {"_type": class_name, "_class_name": class_name, "_bases": [base, "Object", "BaseModel"], **fields}
        obj = {"project_id": self.project_id, "object_id": name or fields["name"], "val": val}
        digest = self.post("/obj/create", {"obj": obj})["digest"]
        return f"weave:///{self.project_id}/object/{obj['object_id']}:{digest}"

    def wait(self, what: str, ask: Callable[[], Json | None]) -> Json:
        """Asks again and again until the answer is not None."""
        deadline = time.monotonic() + WAIT_SECONDS
        while (answer := ask()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} took more than {WAIT_SECONDS} s")
            time.sleep(POLL_SECONDS)
        return answer


@dataclass(frozen=True)
class Scorers:
    exact: str
    judge: str

    @property
    def refs(self) -> list[str]:
        return [self.exact, self.judge]


def publish_scorers(heddle: Heddle, base_model: str) -> Scorers:
    exact = {"name": "exact", "column_map": {"target": "expected"}}
    asked = {
        "name": "judge_model",
        "llm_model_id": base_model,
        "default_params": {"temperature": 0, "max_tokens": 4, "response_format": "text"},
    }
    judge_model = heddle.publish("LLMStructuredCompletionModel", "Model", asked)
    judge = {"name": "judge", "model": judge_model, "scoring_prompt": JUDGE_PROMPT}
    return Scorers(
        exact=heddle.publish("ExactMatchScorer", "Scorer", exact),
        judge=heddle.publish("LLMAsAJudgeScorer", "Scorer", judge),
    )


def said_of(heddle: Heddle, call_ids: list[str], scorer: str, path: str) -> Json | None:
    """A scorer's results, by the call's ref; None until it has scored all."""
    refs = [{"$literal": f"weave:///{heddle.project_id}/call/{call_id}"} for call_id in call_ids]
    query = {
        "$expr": {
            "$and": [
                {"$eq": [{"$getField": "feedback_type"}, {"$literal": f"wandb.runnable.{scorer}"}]},
                {"$in": [{"$getField": "weave_ref"}, refs]},
            ]
        }
    }
    field = f"payload.{path}"
    asked = {"project_id": heddle.project_id, "fields": ["weave_ref", field], "query": query}
    rows = heddle.post("/feedback/query", asked)["result"]
    return {row["weave_ref"]: row[field] for row in rows} if len(rows) >= len(call_ids) else None


@dataclass(frozen=True)
class Judged:
    """How many of some calls are right, how many the judge says yes to, and on how many it is wrong."""

    calls: int
    right: int
    yes: int
    erring: int


def judge(heddle: Heddle, scorers: Scorers, call_ids: list[str]) -> Judged:
    """Has the server apply both scorers to the calls, and compares what they said."""
    heddle.post("/calls/score", {"project_id": heddle.project_id, "call_ids": call_ids, "scorer_refs": scorers.refs})
    exact = heddle.wait("scoring", lambda: said_of(heddle, call_ids, "exact", "output.match"))
    judged = heddle.wait("the judge", lambda: said_of(heddle, call_ids, "judge", "output"))
    yes = {ref: str(said).strip().lower().startswith("yes") for ref, said in judged.items()}
    return Judged(
        calls=len(exact),
        right=sum(map(bool, exact.values())),
        yes=sum(yes.values()),
        erring=sum(yes[ref] != bool(right) for ref, right in exact.items()),
    )


def train(heddle: Heddle, model_id: str, call_ids: list[str], config: Json) -> Json:
    """Collects the correct calls and trains on them; one request. Returns its reply with the job's end."""
    reply = heddle.post(
        f"/v2/{heddle.project_id}/collect",
        {
            "from": {"calls": {"filter": {"call_ids": call_ids}}},
            "score": {"feedback_type": "wandb.runnable.exact", "path": "output.match"},
            "where": {"min_score": 1},
            "into": {"sft": {"name": "right-answers", "train": {"model": model_id, "config": config}}},
        },
    )

    def end() -> Json | None:
        job = heddle.get(f"/v1/preview/training-jobs/{reply['job_id']}")
        return job if job["ended_at"] is not None else None

    job = heddle.wait("training", end)
    if job["state"] != "succeeded":
        raise RuntimeError(f"The training job {job['state']}: {job['error_message']}")
    return {**reply, "job": job}


def publish_evaluation(heddle: Heddle, scorers: Scorers, rows: list[Json]) -> str:
    """`rows` have the question as `user_input`, and the answer that is `expected`."""
    dataset = heddle.post(f"/v2/{heddle.project_id}/datasets", {"name": "held-out-sums", "rows": rows})
    ref = f"weave:///{heddle.project_id}/object/{dataset['object_id']}:{dataset['digest']}"
    fields = {"name": "held-out", "dataset": ref, "scorers": [scorers.exact], "trials": 1}
    return heddle.publish("Evaluation", "Object", {**fields, "preprocess_model_input": None})


def evaluate(heddle: Heddle, evaluation: str, model: str, step: int, sampling: Json) -> str:
    """Evaluates a step of the model on the server; returns the evaluation's call."""
    fields = {
        "name": f"step{step}",
        "llm_model_id": f"{model}:step{step}",
        "default_params": {**sampling, "response_format": "text"},
    }
    ref = heddle.publish("LLMStructuredCompletionModel", "Model", fields, name=f"{model.split('/')[-1]}-step{step}")
    asked = {"project_id": heddle.project_id, "evaluation_ref": evaluation, "model_ref": ref}
    call_id = heddle.post("/evaluations/evaluate_model", asked)["call_id"]

    def end() -> Json | None:
        status = heddle.post("/evaluations/status", {"project_id": heddle.project_id, "call_id": call_id})["status"]
        return None if status["code"] == "running" else status

    status = heddle.wait("the evaluation", end)
    if status["code"] != "complete":
        raise RuntimeError(f"The evaluation {status['code']}: {status.get('error')}")
    return call_id


@dataclass(frozen=True)
class Comparison:
    """Held-out questions by which of two evaluations got them right."""

    both: int
    only_before: int
    only_after: int
    neither: int

    @property
    def questions(self) -> int:
        return self.both + self.only_before + self.only_after + self.neither

    @property
    def before(self) -> float:
        return (self.both + self.only_before) / self.questions

    @property
    def after(self) -> float:
        return (self.both + self.only_after) / self.questions

    def error(self, rate: float) -> float:
        """The standard error of a share of the questions."""
        return math.sqrt(rate * (1 - rate) / self.questions)


def compare(heddle: Heddle, before: str, after: str) -> Comparison:
    """Results of both evaluations for each question, in one query."""
    asked = {"evaluation_call_ids": [before, after], "require_intersection": True}
    rows = heddle.post(f"/v2/{heddle.project_id}/eval_results/query", asked)["rows"]
    counts = Counter((is_right(row, before), is_right(row, after)) for row in rows)
    return Comparison(
        both=counts[True, True],
        only_before=counts[True, False],
        only_after=counts[False, True],
        neither=counts[False, False],
    )


def is_right(row: Json, call_id: str) -> bool:
    of_run = next(one for one in row["evaluations"] if one["evaluation_call_id"] == call_id)
    return any(trial["scores"].get("exact", {}).get("match") for trial in of_run["trials"])
