import { z } from 'zod'
import { JsonText } from '../json/lossless-json.ts'
import { listOf, recordOf } from '../wire/bounded-wire.ts'
import { AnyJson } from '../wire/json-text-wire.ts'
import { asWritten } from './as-written-wire.ts'

/** Wire: the documented bounds of a seed, which are rounded and lie just outside 64 bits. */
const SEED_MAX = 9_223_372_036_854_776_000n

/** Integers that are written without a fraction, or with one that is zero. */
const INTEGER = /^"?([+-]?\d{1,30})(\.0{0,30})?"?$/

/** A 64-bit integer, kept as text because a double has only 53 bits; what exceeds 64 bits is folded into them. */
const Seed = AnyJson.superRefine(({ text }, context) => {
  const seed = integerOf(text)
  if (seed === undefined) {
    const message = 'Input should be a valid integer'
    context.addIssue({ code: 'custom', message, params: { type: 'int_type' } })
  } else if (seed > SEED_MAX || seed < -SEED_MAX) {
    const [word, bound] = seed > 0 ? ['less', SEED_MAX] : ['greater', -SEED_MAX]
    const message = `Input should be ${word} than or equal to ${bound}`
    context.addIssue({ code: 'custom', message, params: { type: `${word}_than_equal` } })
  }
})
  .meta({ type: 'integer' })
  .transform(({ text }) => new JsonText(String(BigInt.asIntN(64, integerOf(text) ?? 0n))))

function integerOf(text: string): bigint | undefined {
  const digits = INTEGER.exec(text)?.[1]
  if (digits !== undefined) return BigInt(digits)
  const number = Number(text)
  return Number.isInteger(number) && /^-?\d/.test(text) ? BigInt(number) : undefined
}

/** The engine compiles one constraint at a time, and 50,000 choices took more than 20 s. */
const CHOICES_MAX = 1_000

/** As much as OpenAI takes of a schema. */
const CONSTRAINT_CHARS_MAX = 120_000

/** The engine expands every item that a list must have: a billion of them exhaust its memory. */
const ITEMS_MAX = 100_000
const TOO_MANY_ITEMS = `minItems should be at most ${ITEMS_MAX}`

/** Whether no list in a schema, or in what holds schemas, must have more items than the engine takes. */
function areItemsFew(constraint: unknown): boolean {
  const counts = JSON.stringify(constraint).matchAll(/"minItems":([^,}\]]+)/g)
  return counts.every(([, count]) => !(Number(count) > ITEMS_MAX))
}

/** The same of JSON in a text; the engine refuses invalid JSON. */
function areItemsFewIn(text: string): boolean {
  try {
    return areItemsFew(JSON.parse(text))
  } catch {
    return true
  }
}

/** Constraints for structured output. */
export const Schema = z.looseObject({}).refine(areItemsFew, { error: TOO_MANY_ITEMS })

const ConstraintSchema = Schema.refine((schema) => JSON.stringify(schema).length <= CONSTRAINT_CHARS_MAX, {
  error: `A schema should have at most ${CONSTRAINT_CHARS_MAX} characters`,
})

const ConstraintText = z.string().max(CONSTRAINT_CHARS_MAX).refine(areItemsFewIn, { error: TOO_MANY_ITEMS })

const Format = z
  .looseObject({
    type: z.enum(['text', 'json_object', 'json_schema', 'structural_tag']),
    json_schema: z
      .looseObject({
        name: z.string(),
        description: z.string().nullish(),
        strict: z.boolean().nullish(),
        schema: ConstraintSchema.nullish(),
      })
      .nullish(),
  })
  .refine(areItemsFew, { error: TOO_MANY_ITEMS })

export const ResponseFormat = asWritten(Format).meta({ id: 'ChatResponseFormat' })

/** @param format checked before */
export function formatType(format: JsonText): z.output<typeof Format>['type'] {
  return Format.parse(format.value()).type
}

/** Wire: exactly one kind of constraint, which the engine checks; older engines had options that this one has not. */
const StructuredOutputs = z
  .object({
    json: asWritten(z.union([ConstraintText, ConstraintSchema])).nullish(),
    regex: z.string().max(CONSTRAINT_CHARS_MAX).nullish(),
    choice: listOf(z.string(), CHOICES_MAX).nullish(),
    grammar: z.string().max(CONSTRAINT_CHARS_MAX).nullish(),
    json_object: z.boolean().nullish(),
    structural_tag: ConstraintText.nullish(),
    disable_any_whitespace: z.boolean().nullish(),
    disable_additional_properties: z.boolean().nullish(),
    whitespace_pattern: z.string().nullish(),
    disable_fallback: z.boolean().nullish(),
    _backend: z.string().nullish(),
    _backend_was_auto: z.boolean().nullish(),
  })
  .meta({ id: 'ChatStructuredOutputs' })

const { json, regex, choice, grammar } = StructuredOutputs.shape

/** Wire: the older names of constraints, which clients still send. */
const guidedFields = {
  guided_json: json,
  guided_regex: regex,
  guided_choice: choice,
  guided_grammar: grammar,
}

const Xarg = z.union([z.string(), z.number()])

/** Arguments of processors that an operator adds to the engine, each of which reads some. */
const XARGS_MAX = 100

/** Of one argument, such as a list of token ids. */
const XARG_ITEMS_MAX = 1_000

const EngineArgs = recordOf(z.union([Xarg, listOf(Xarg, XARG_ITEMS_MAX)]), XARGS_MAX)

/** Wire: a constructor object has no other keys. */
const LogitsProcessor = z.union([
  z.string(),
  z.strictObject({
    qualname: z.string(),
    args: z.array(z.unknown()).nullish(),
    kwargs: z.looseObject({}).nullish(),
  }),
])

/** The engine's configured maximum. */
const STOPS_MAX = 1_024

/** As many as the engine takes on a GPU. */
const LOGIT_BIASES_MAX = 1_024

/** More than any vocabulary has. */
const TOKEN_IDS_MAX = 1_000_000

/** The engine repeats it in every chunk. */
const REQUEST_ID_CHARS_MAX = 256

const StreamOptions = z.object({
  include_usage: z.boolean().nullish(),
  continuous_usage_stats: z.boolean().nullish(),
})

/**
 * The engine compares the last tokens of an answer with as many before them, for each size of a pattern and after each
 * token.
 */
const PATTERN_TOKENS_MAX = 1_000

const RepetitionDetection = z.object({
  max_pattern_size: z.int().max(PATTERN_TOKENS_MAX).nullish(),
  min_pattern_size: z.int().nullish(),
  min_count: z.int().nullish(),
})

/**
 * Fields that the engine knows and Heddle does not pass on: they would read files and addresses, hide tokens from those
 * that count them, or need an engine that is started for them. A request that sets one is refused.
 */
export const REFUSED_FIELDS = [
  'media_io_kwargs',
  'return_token_offsets',
  'stream_interval',
  'watermarking',
  'guided_whitespace_pattern',
  'guided_decoding_backend',
] as const

const refusedFields = Object.fromEntries(
  REFUSED_FIELDS.map((name) => [name, z.unknown().optional().meta({ description: 'Not supported' })]),
) as Record<(typeof REFUSED_FIELDS)[number], z.ZodOptional<z.ZodUnknown>>

/**
 * What chat and text completions have in common. Types and the bounds that the interface documents are checked here;
 * values that make no sense for a model or beside another field are the engine's to refuse, in its own words.
 */
export const samplingFields = {
  model: z.string().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: recordOf(z.number(), LOGIT_BIASES_MAX).nullish(),
  n: z.int().nullish(),
  seed: Seed.nullish(),
  stop: z.union([z.string(), listOf(z.string(), STOPS_MAX)]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: StreamOptions.nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  user: z.string().nullish(),
  top_k: z.int().nullish(),
  min_p: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  length_penalty: z.number().nullish(),
  use_beam_search: z.boolean().nullish(),
  stop_token_ids: listOf(z.int(), TOKEN_IDS_MAX).nullish(),
  include_stop_str_in_output: z.boolean().nullish(),
  ignore_eos: z.boolean().nullish(),
  min_tokens: z.int().nullish(),
  skip_special_tokens: z.boolean().nullish(),
  spaces_between_special_tokens: z.boolean().nullish(),
  truncate_prompt_tokens: z.number().min(-1).max(Number(SEED_MAX)).nullish(),
  truncation_side: z.enum(['left', 'right']).nullish(),
  thinking_token_budget: z.int().nullish(),
  repetition_detection: RepetitionDetection.nullish(),
  prompt_logprobs: z.int().nullish(),
  logprob_token_ids: listOf(z.int(), TOKEN_IDS_MAX).nullish(),
  allowed_token_ids: listOf(z.int(), TOKEN_IDS_MAX).nullish(),
  bad_words: listOf(z.string(), STOPS_MAX).nullish(),
  echo: z.boolean().nullish(),
  add_special_tokens: z.boolean().nullish(),
  response_format: ResponseFormat.nullish(),
  structured_outputs: StructuredOutputs.nullish(),
  ...guidedFields,
  priority: z.int().nullish(),
  request_id: z.string().max(REQUEST_ID_CHARS_MAX).nullish(),
  logits_processors: listOf(LogitsProcessor, STOPS_MAX).nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  cache_salt: z.string().nullish(),
  kv_transfer_params: asWritten(z.looseObject({})).nullish(),
  vllm_xargs: EngineArgs.nullish(),
  engine_xargs: EngineArgs.nullish(),
  ...refusedFields,
}

/** The policy of a choice. */
export const Policy = z
  .object({ step: z.int(), biased_by: z.array(z.string()) })
  .optional()
  .meta({ description: 'Of trained models: the step that answered, and what biases training on it' })
