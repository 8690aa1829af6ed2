-- What a scorer says in words and numbers, and of which part of an agent's work: newer clients send it beside the payload.
ALTER TABLE feedback
    ADD COLUMN IF NOT EXISTS scorer_tags Array(String),
    ADD COLUMN IF NOT EXISTS scorer_tag_reasons Map(String, String),
    ADD COLUMN IF NOT EXISTS scorer_tag_confidences Map(String, Float64),
    ADD COLUMN IF NOT EXISTS scorer_ratings Map(String, Float64),
    ADD COLUMN IF NOT EXISTS scorer_rating_reasons Map(String, String),
    ADD COLUMN IF NOT EXISTS scorer_rating_confidences Map(String, Float64),
    ADD COLUMN IF NOT EXISTS scorer_trace_id String,
    ADD COLUMN IF NOT EXISTS span_agent_name String,
    ADD COLUMN IF NOT EXISTS span_agent_version String,
    ADD COLUMN IF NOT EXISTS span_status_code String,
    ADD COLUMN IF NOT EXISTS span_conversation_id String,
    ADD COLUMN IF NOT EXISTS span_trace_id String;
