-- Which projects filter and sort calls by which leaves of payloads, so that these have columns of their own
-- (docs/decisions/0027-json-index.md). A use and its end are rows of one key, of which the later one counts.
CREATE TABLE IF NOT EXISTS leaf_uses
(
    path String,
    project_id String,
    used_at DateTime64(6, 'UTC'),
    released UInt8
)
ENGINE = ReplacingMergeTree(used_at)
ORDER BY (path, project_id)
TTL toDateTime(used_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
