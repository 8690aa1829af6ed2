-- To build the indexes of words of a part takes memory in proportion to its rows, some 0.3 GiB for a million calls (docs/decisions/0026).
-- The largest parts grow with the table, so they are merged to at most 2 GiB.
ALTER TABLE calls MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 2147483648;
