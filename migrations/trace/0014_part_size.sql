-- To build the indexes of words of a part takes memory in proportion to its rows: two parts of 4 GiB at once took 1.6 GiB. Parts are
-- merged to at most 2 GiB: those of ten million calls are hardly more.
ALTER TABLE calls MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 2147483648;
