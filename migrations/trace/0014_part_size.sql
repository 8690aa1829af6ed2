-- To build the indexes of words of a part takes memory in proportion to its rows: of parts of 3 and 4.5 GiB at once 1.5 GiB. With parts of
-- at most 2 GiB ten million calls are in ten to twenty parts instead of five, beside the small ones.
ALTER TABLE calls MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 2147483648;
