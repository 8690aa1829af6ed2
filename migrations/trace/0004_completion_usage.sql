-- What completions cost, an hour a row: rows of one key add up, so each says only what is new.
CREATE TABLE IF NOT EXISTS completion_usage
(
    entity String,
    project String,
    model String,
    base_model String,
    step Int64,
    key String,
    hour DateTime('UTC'),
    requests UInt64,
    requests_cut UInt64,
    prompt_tokens UInt64,
    cached_tokens UInt64,
    completion_tokens UInt64,
    reasoning_tokens UInt64
)
ENGINE = SummingMergeTree
ORDER BY (entity, project, model, base_model, step, key, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
