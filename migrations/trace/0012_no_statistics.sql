-- Merges would make statistics of every column, payloads too, for the order of conditions alone.
ALTER TABLE calls MODIFY SETTING auto_statistics_types = '';
