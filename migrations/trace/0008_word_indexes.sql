-- The words of payloads, for searches (src/trace/query-language/word-index.ts). Building this takes longer than merging all else
-- of a call, so neither inserts nor merges do it: src/stores/trace-db/clickhouse/deferred-indexes.ts does later. Parts
-- without an index are scanned. Words have no digits: ids would be most of the words there are.
ALTER TABLE calls
    ADD INDEX IF NOT EXISTS inputs_words
        lower(translate(if(
            multiSearchAny(assumeNotNull(inputs), ['\\u000', '\\u001', '\\u002', '\\u003', '\\u004', '\\u005', '\\u006', '\\u007']),
            concat(assumeNotNull(inputs), ' qzxnumberedqzx'), assumeNotNull(inputs)), '0123456789', '          '))
        TYPE text(tokenizer = splitByNonAlpha),
    ADD INDEX IF NOT EXISTS output_words
        lower(translate(if(
            multiSearchAny(assumeNotNull(output), ['\\u000', '\\u001', '\\u002', '\\u003', '\\u004', '\\u005', '\\u006', '\\u007']),
            concat(assumeNotNull(output), ' qzxnumberedqzx'), assumeNotNull(output)), '0123456789', '          '))
        TYPE text(tokenizer = splitByNonAlpha);

ALTER TABLE calls MODIFY SETTING exclude_materialize_skip_indexes_on_merge = 'inputs_words,output_words';
