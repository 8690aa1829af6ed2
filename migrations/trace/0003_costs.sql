-- What people say a token of a model costs in their project; the prices everybody knows are data of the server.
CREATE TABLE IF NOT EXISTS costs
(
    project_id String,
    llm_id String,
    id String,
    provider_id String,
    effective_date DateTime64(6, 'UTC'),
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit String,
    completion_token_cost_unit String,
    created_at DateTime64(6, 'UTC'),
    created_by String
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, llm_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
