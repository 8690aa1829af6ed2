-- Tags and aliases of object versions. Setting and removing are rows of one key, of which the later one counts.
CREATE TABLE IF NOT EXISTS object_tags
(
    project_id String,
    object_id String,
    digest String,
    tag String,
    changed_at DateTime64(6, 'UTC'),
    removed UInt8
)
ENGINE = ReplacingMergeTree(changed_at, removed)
ORDER BY (project_id, object_id, digest, tag)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- An alias names one version of its object: the digest is no part of the key, so setting an alias again moves it.
CREATE TABLE IF NOT EXISTS object_aliases
(
    project_id String,
    object_id String,
    alias String,
    digest String,
    changed_at DateTime64(6, 'UTC'),
    removed UInt8
)
ENGINE = ReplacingMergeTree(changed_at, removed)
ORDER BY (project_id, object_id, alias)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
