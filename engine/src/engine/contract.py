# Generated from src/training/trainer/contract-wire.ts by "npm run gen"; do not edit.
from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel


class LoraSpec(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rank: int
    alpha: int
    target_modules: list[str]
    seed: int


class CreateAdapter(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["create_adapter"]
    request_id: str
    output_dir: str
    lora: LoraSpec


class RlConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")
    learning_rate: float
    advantage_balance: float
    scale_rewards: bool
    ppo: bool
    epsilon: float | None
    epsilon_high: float | None
    importance_sampling_level: Literal["token", "sequence", "average", "geometric_average"]
    max_negative_advantage_importance_sampling_weight: float | None
    mask_prob_ratio: bool
    kimi_k2_tau: float | None
    precalculate_logprobs: bool
    normalize_advantages: bool
    truncated_importance_sampling: float | None
    kl_penalty_coef: float | None
    kl_penalty_source: Literal["current_learner", "sample"]
    num_trajectories_learning_rate_multiplier_power: float
    allow_training_without_logprobs: bool
    require_sampled_context: bool
    packed_sequence_length: int | None
    gradient_steps: int | None
    seed: int


class RlJob(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["rl_job"]
    job_id: str
    checkpoint_dir: str
    output_dir: str
    work_dir: str
    model: str
    policy_step: int
    reference_dir: str | None
    trajectory_groups_path: str
    config: RlConfig


class SftConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")
    batch_size: int
    learning_rate: float | list[float]
    assistant_turns: Literal["all", "last"]


class SftJob(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["sft_job"]
    job_id: str
    checkpoint_dir: str
    output_dir: str
    work_dir: str
    data_path: str
    config: SftConfig


class MergeAdapter(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["merge_adapter"]
    request_id: str
    checkpoint_dir: str
    output_dir: str


class Sleep(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["sleep"]
    request_id: str


class Wake(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["wake"]
    request_id: str


class CancelJob(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["cancel_job"]
    job_id: str


WorkerRequestKinds = CreateAdapter | RlJob | SftJob | MergeAdapter | Sleep | Wake | CancelJob


class WorkerRequest(RootModel[WorkerRequestKinds]):
    root: Annotated[WorkerRequestKinds, Field(discriminator="kind")]


class WorkerReady(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["worker_ready"]
    base_model: str
    device: str
    dtype: str


class BaseModelUnusable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["base_model_unusable"]
    error_message: str


class AdapterCreated(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["adapter_created"]
    request_id: str
    directory: str


class AdapterMerged(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["adapter_merged"]
    request_id: str
    directory: str
    logprob_gap_max: float


class Asleep(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["asleep"]
    request_id: str


class Awake(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["awake"]
    request_id: str


class RequestProgress(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["request_progress"]
    request_id: str
    done: int
    total: int


class RequestFailed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["request_failed"]
    request_id: str
    error_message: str
    error_field: str | None


class JobProgress(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["job_progress"]
    job_id: str
    sequence: int
    phase: Literal["loading", "tokenizing", "training", "saving"]
    done: int
    total: int


class TrainingStarted(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["training_started"]
    job_id: str
    sequence: int
    num_sequences: int


class GradientStep(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["gradient_step"]
    job_id: str
    sequence: int
    metrics: dict[str, float]


class CheckpointSaved(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["checkpoint_saved"]
    job_id: str
    sequence: int
    directory: str
    metrics: dict[str, float]


class JobFailed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["job_failed"]
    job_id: str
    sequence: int
    error_message: str


class JobCancelled(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["job_cancelled"]
    job_id: str
    sequence: int


WorkerMessageKinds = (
    WorkerReady
    | BaseModelUnusable
    | AdapterCreated
    | AdapterMerged
    | Asleep
    | Awake
    | RequestProgress
    | RequestFailed
    | JobProgress
    | TrainingStarted
    | GradientStep
    | CheckpointSaved
    | JobFailed
    | JobCancelled
)


class WorkerMessage(RootModel[WorkerMessageKinds]):
    root: Annotated[WorkerMessageKinds, Field(discriminator="kind")]
