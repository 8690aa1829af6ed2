-- Which calls are in which queues, beside the items themselves, so that calls can be asked for by their queue. The row of
-- no call, '', says that the queue was deleted.
CREATE TABLE IF NOT EXISTS annotation_queue_calls
(
    project_id String,
    queue_id String,
    call_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, queue_id, call_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
