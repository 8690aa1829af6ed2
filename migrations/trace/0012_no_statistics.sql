-- Merges would make statistics of every column, payloads too, for the order of conditions alone.
ALTER TABLE calls MODIFY SETTING auto_statistics_types = '';
ALTER TABLE objects MODIFY SETTING auto_statistics_types = '';
ALTER TABLE table_rows MODIFY SETTING auto_statistics_types = '';
ALTER TABLE feedback MODIFY SETTING auto_statistics_types = '';
ALTER TABLE run_metrics MODIFY SETTING auto_statistics_types = '';
ALTER TABLE run_log_lines MODIFY SETTING auto_statistics_types = '';
