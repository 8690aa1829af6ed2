-- One value a key and step, of what a run logs (history) and of what its machine does (system). The same line sent twice
-- is one row, and of two lines for one step the one logged later stays, in whatever order they come.
CREATE TABLE IF NOT EXISTS run_metrics
(
    project_id String,
    run_id String,
    stream LowCardinality(String),
    key String,
    step Int64,
    value Nullable(Float64),
    json Nullable(String),
    time DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (project_id, run_id, stream, key, step)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- A terminal rewrites its last lines, so a line's newest text counts.
CREATE TABLE IF NOT EXISTS run_log_lines
(
    project_id String,
    run_id String,
    line UInt64,
    text String,
    time DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(time)
ORDER BY (project_id, run_id, line)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
