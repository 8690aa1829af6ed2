-- One row per part of a call; parts of the same (project_id, id) merge field by field, in any order, any number of
-- times: anyLast skips nulls, max skips what is absent ('', 0, the year 1900), references add up. What lists sort and
-- filter by is not Nullable, since a Nullable column is read slower and gives no order. Payloads are large, so granules
-- are bounded by bytes: reading one call decompresses one. An excerpt has the same JSON leaves with long strings cut
-- (src/trace/calls/excerpt.ts), so that conditions need not read prompts. Every file of a part costs an insert an fsync, so
-- one index serves three columns: it has a filter of its own for each. Parts are merged ten at a time (docs/decisions/0001).
CREATE TABLE IF NOT EXISTS calls
(
    project_id LowCardinality(String),
    id String,
    has_start SimpleAggregateFunction(max, UInt8),
    trace_id SimpleAggregateFunction(max, String),
    parent_id SimpleAggregateFunction(max, String),
    thread_id SimpleAggregateFunction(max, String),
    turn_id SimpleAggregateFunction(max, String),
    op_name SimpleAggregateFunction(max, LowCardinality(String)),
    display_name SimpleAggregateFunction(anyLast, Nullable(String)),
    started_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')) DEFAULT toDateTime64('1900-01-01 00:00:00', 6, 'UTC'),
    ended_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')) DEFAULT toDateTime64('1900-01-01 00:00:00', 6, 'UTC'),
    deleted_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')) DEFAULT toDateTime64('1900-01-01 00:00:00', 6, 'UTC'),
    exception SimpleAggregateFunction(anyLast, Nullable(String)),
    error_count SimpleAggregateFunction(max, UInt64),
    wb_user_id SimpleAggregateFunction(max, LowCardinality(String)),
    wb_run_id SimpleAggregateFunction(max, LowCardinality(String)),
    wb_run_step SimpleAggregateFunction(anyLast, Nullable(UInt64)),
    wb_run_step_end SimpleAggregateFunction(anyLast, Nullable(UInt64)),
    attributes SimpleAggregateFunction(anyLast, Nullable(String)),
    inputs SimpleAggregateFunction(anyLast, Nullable(String)),
    inputs_excerpt SimpleAggregateFunction(anyLast, Nullable(String)) DEFAULT inputs,
    output SimpleAggregateFunction(anyLast, Nullable(String)),
    output_excerpt SimpleAggregateFunction(anyLast, Nullable(String)) DEFAULT output,
    summary SimpleAggregateFunction(anyLast, Nullable(String)),
    start_bytes SimpleAggregateFunction(max, UInt64) DEFAULT length(ifNull(attributes, '')) + length(ifNull(inputs, '')),
    end_bytes SimpleAggregateFunction(max, UInt64) DEFAULT length(ifNull(output, '')) + length(ifNull(summary, '')),
    input_refs SimpleAggregateFunction(groupUniqArrayArray, Array(String)),
    output_refs SimpleAggregateFunction(groupUniqArrayArray, Array(String)),
    INDEX by_family (trace_id, parent_id, thread_id) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_start started_at TYPE minmax GRANULARITY 1
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, id)
SETTINGS index_granularity_bytes = 1048576, merge_selector_base = 10, fsync_after_insert = 1, fsync_part_directory = 1;

-- A version is live while it was last published after it was last deleted; its index follows its first publication.
CREATE TABLE IF NOT EXISTS objects
(
    project_id String,
    object_id String,
    digest String,
    kind SimpleAggregateFunction(anyLast, String),
    base_object_class SimpleAggregateFunction(anyLast, Nullable(String)),
    leaf_object_class SimpleAggregateFunction(anyLast, Nullable(String)),
    val SimpleAggregateFunction(anyLast, Nullable(String)),
    wb_user_id SimpleAggregateFunction(anyLast, Nullable(String)),
    created_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')),
    published_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    deleted_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC')))
)
ENGINE = AggregatingMergeTree
ORDER BY (project_id, object_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS tables
(
    project_id String,
    digest String,
    row_digests Array(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Rows are only ever looked up by digest, in no order: small granules, so that a lookup reads few neighbours.
CREATE TABLE IF NOT EXISTS table_rows
(
    project_id String,
    digest String,
    val String
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, digest)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;

-- The bytes of a file are a blob under the same digest.
CREATE TABLE IF NOT EXISTS files
(
    project_id String,
    digest String,
    name String,
    size_bytes UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS feedback
(
    project_id String,
    weave_ref String,
    id String,
    feedback_type String,
    payload String,
    creator Nullable(String),
    created_at DateTime64(6, 'UTC'),
    wb_user_id String,
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, weave_ref, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
