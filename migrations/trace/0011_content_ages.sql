-- When files and tables were last sent, so that none is taken for unused while its client is about to name it, and files can
-- be kept for a time. Rows from before this have the time of this change.
ALTER TABLE files ADD COLUMN IF NOT EXISTS created_at DateTime64(6, 'UTC') DEFAULT now64(6);
ALTER TABLE files MATERIALIZE COLUMN created_at;
ALTER TABLE tables ADD COLUMN IF NOT EXISTS created_at DateTime64(6, 'UTC') DEFAULT now64(6);
ALTER TABLE tables MATERIALIZE COLUMN created_at;
ALTER TABLE table_rows ADD COLUMN IF NOT EXISTS created_at DateTime64(6, 'UTC') DEFAULT now64(6);
ALTER TABLE table_rows MATERIALIZE COLUMN created_at;
