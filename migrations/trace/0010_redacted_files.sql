-- The bytes of a file that were redacted are a blob of their own digest; the file's remains that of what was sent.
ALTER TABLE files ADD COLUMN IF NOT EXISTS stored_digest String DEFAULT digest;
