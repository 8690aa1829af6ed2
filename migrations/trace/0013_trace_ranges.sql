-- Ids of traces rise with time as those of calls do, so the least and greatest of a granule exclude nearly all granules for a
-- trace, where the filters of by_family exclude each with a chance of 99 % and have to be read. Merges build it; in parts
-- without it by_family decides alone (exclude_materialize_skip_indexes_on_insert: each file costs an insert an fsync).
ALTER TABLE calls ADD INDEX IF NOT EXISTS by_trace trace_id TYPE minmax GRANULARITY 1;
ALTER TABLE calls MATERIALIZE INDEX by_trace;
