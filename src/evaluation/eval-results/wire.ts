import { z } from 'zod'
import { Query, SortBy } from '../../trace/query-language/wire.ts'
import { AnyJson, JsonObject } from '../../wire/json-text-wire.ts'

const Ids = z.array(z.string()).nullish()

/**
 * Wire: fields are `scores.<name>`, `inputs.<path>` and `outputs.<path>`; to sort, also `errors`, the share of trials
 * with an error.
 */
const Filter = z.object({ query: Query, evaluation_call_id: z.string().nullish() })
export type Filter = z.output<typeof Filter>

const Sort = SortBy.extend({
  evaluation_call_id: z.string().nullish(),
  mode: z.enum(['value', 'difference', 'change']).default('value').meta({
    description:
      'value: the mean over the trials of a row. difference: the spread of the means of its evaluations. change: how far the mean of the other evaluations is from that of evaluation_call_id; of several the lowest where ascending, the highest where descending.',
  }),
})
export type Sort = z.output<typeof Sort>

export const EvalResultsReq = z
  .object({
    evaluation_call_ids: Ids,
    evaluation_run_ids: Ids,
    require_intersection: z.boolean().default(false),
    include_raw_data_rows: z.boolean().default(false),
    resolve_row_refs: z.boolean().default(false),
    include_rows: z.boolean().default(true),
    include_summary: z.boolean().default(false),
    summary_require_intersection: z.boolean().nullish(),
    include_predict_and_score_children: z.boolean().default(true),
    include_costs: z.boolean().default(false),
    include_errors: z.boolean().default(false).meta({
      description:
        'Shows the error of each trial, and counts trials with an error as failures: in the score and error_count of each statistic, and in the order of rows.',
    }),
    include_paired: z.boolean().default(false).meta({
      description: 'Compares each evaluation with the first, over the rows of which both have values.',
    }),
    filters: z.array(Filter).nullish(),
    filter_logic_operator: z.enum(['and', 'or']).default('or'),
    sort_by: z.array(Sort).nullish(),
    limit: z.int().nullish(),
    offset: z.int().default(0),
  })
  .refine(
    ({ evaluation_call_ids, evaluation_run_ids }) =>
      evaluation_call_ids?.length || evaluation_run_ids?.length,
    {
      error: 'evaluation_call_ids or evaluation_run_ids is required',
    },
  )
export type EvalResultsReq = z.output<typeof EvalResultsReq> & { entity: string; project: string }

const SpanRef = z.object({ trace_id: z.string(), span_id: z.string() })

const Trial = z.object({
  predict_and_score_call_id: z.string(),
  predict_call_id: z.string().nullable(),
  model_output: AnyJson.nullable(),
  scores: JsonObject,
  model_latency_seconds: z.number().nullable(),
  total_tokens: z.int().nullable(),
  total_cost: z.number().nullable(),
  scorer_call_ids: z.record(z.string(), z.string()),
  genai_span_ref: z.array(SpanRef).nullable(),
  error: z.string().nullable().optional().meta({
    description:
      'With include_errors: the exception of the trial, or else of the prediction or a scorer directly below it.',
  }),
})
export type Trial = z.input<typeof Trial>

const Row = z
  .object({
    row_digest: z.string(),
    raw_data_row: AnyJson.nullable(),
    evaluations: z.array(z.object({ evaluation_call_id: z.string(), trials: z.array(Trial) })),
  })
  .meta({ id: 'EvalResultsRow' })
export type Row = z.input<typeof Row>

/** One leaf of what a scorer says, over the trials that have it. */
const ScorerStats = z.object({
  scorer_key: z.string(),
  path: z.string().nullable(),
  value_type: z.enum(['binary', 'continuous', 'text']),
  trial_count: z.int(),
  numeric_count: z.int(),
  numeric_mean: z.number().nullable(),
  pass_true_count: z.int(),
  pass_known_count: z.int(),
  pass_rate: z.number().nullable(),
  pass_signal_coverage: z.number().nullable(),
  field: z.string().optional().meta({
    description:
      'With include_errors: the field to sort and filter by. A dot that is part of a name is written `\\.` in it.',
  }),
  error_count: z.int().optional().meta({
    description: 'With include_errors: trials with an error that have no value here.',
  }),
  score: z.number().nullable().optional().meta({
    description:
      'With include_errors: of truths alone, the share of true among values and errors; otherwise the mean of the values, of which true counts as 1 and false as 0.',
  }),
})
export type ScorerStats = z.input<typeof ScorerStats>

/** One field over the rows that an evaluation and the first of the request both have a value of. */
const Paired = z.object({
  field: z.string(),
  row_count: z.int(),
  score: z.number(),
  baseline_score: z.number(),
})

const Summary = z.object({
  row_count: z.int(),
  evaluations: z.array(
    z.object({
      evaluation_call_id: z.string(),
      trial_count: z.int(),
      scorer_stats: z.array(ScorerStats),
      evaluation_ref: z.string().nullable(),
      model_ref: z.string().nullable(),
      display_name: z.string().nullable(),
      trace_id: z.string().nullable(),
      started_at: z.string().nullable(),
      predict_total_cost: z.number().nullable(),
      predict_total_tokens: z.int().nullable(),
      row_count: z.int().optional().meta({
        description: 'With include_errors: rows that the evaluation has a trial of.',
      }),
      error_count: z.int().optional().meta({ description: 'With include_errors: trials with an error.' }),
      paired: z.array(Paired).optional().meta({
        description:
          'With include_paired, of all evaluations but the first of the request: each field over the rows of which both have a value, which of a row is the mean of its trials. With include_errors, where all values of a field are truths, a trial with an error and without a value is false.',
      }),
    }),
  ),
})
export type Summary = z.input<typeof Summary>

export const EvalResultsRes = z.object({
  rows: z.array(Row),
  total_rows: z.int(),
  summary: Summary.nullable(),
  warnings: z.array(z.string()),
})
export type EvalResultsRes = z.input<typeof EvalResultsRes>
