import type { WantedDifference } from './wanted-differences.ts'

const PRICES = 'The reference keeps prices in 32 bits, which shows after seven digits.'

const OBJECTS: readonly WantedDifference[] = [
  {
    at: ['objects: lists the one published again'],
    place: 'body.objs*',
    why: 'Publishing what is there changes nothing; the reference has created it anew.',
  },
  {
    at: ['objects: lists with sizes'],
    place: 'body.objs[*].size_bytes',
    why: 'Sizes are of the text that a client sent; the reference counts its own notation, with more spaces.',
  },
  {
    at: ['objects: deletes it again'],
    place: 'body',
    why: 'A client that learns when a version was deleted does not ask again.',
  },
  {
    at: ['objects: deletes no versions'],
    place: 'status',
    values: [200, 404],
    why: 'An empty list names nothing; the reference deletes every version then.',
  },
  {
    at: ['objects: lists after no versions were deleted'],
    place: 'body.objs',
    why: 'An empty list names nothing; the reference deletes every version then.',
  },
  {
    at: ['labels: *'],
    place: 'body.*aliases[*]',
    why: 'Aliases are sorted; the order of the reference is by chance.',
    byChance: true,
  },
]

const TABLES_REFS_FILES: readonly WantedDifference[] = [
  {
    at: ['tables: rows limit -1', 'tables: rows offset -1', 'threads: limit -1', 'threads: offset -1'],
    place: 'status',
    values: [200, 400],
    why: 'Negative pages are refused, as they are for calls and objects.',
  },
  {
    at: ['tables: rows by "list.0" *', 'tables: rows by one, a page'],
    place: 'body.rows*',
    why: 'Rows that sort alike stay in the order of the table; that of the reference is by chance.',
    byChance: true,
  },
  {
    at: ['tables: counts an unknown one'],
    place: 'status',
    values: [500, 404],
    why: 'A table that is not there is not found; the reference fails.',
  },
  {
    at: ['tables: counts with sizes'],
    place: 'body.tables[0].storage_size_bytes',
    why: 'Sizes are of the rows, each counted once; the reference adds them up once more for every row.',
  },
  {
    at: ['tables: updates: two in one'],
    place: 'status',
    values: [200, 422],
    why: 'An update does one thing; the reference does the first and drops the rest.',
  },
  {
    at: ['refs: path /key/list/index/-1'],
    place: 'body.vals[0]',
    why: 'Indexes count from the beginning; the reference lets Python count from the end.',
  },
  {
    at: ['refs: path /key/list/key/x', 'refs: path /key/name/key/x', 'refs: path /index/0'],
    place: 'status',
    values: [500, 200],
    why: 'A path that leads nowhere is null, whatever is there instead; the reference fails.',
  },
  {
    at: ['refs: path /id/abc', 'refs: a row by index'],
    place: 'status',
    values: [400, 200],
    why: 'A path that leads nowhere is null, so that the other refs of the batch are answered.',
  },
  {
    at: ['refs: through a link', 'refs: through a link to a part', 'refs: through a link in a row'],
    place: 'body.vals[0]',
    why: 'The path goes on behind a link; the reference forgets the rest of it there.',
  },
  {
    at: ['refs: a version by index'],
    place: 'status',
    values: [404, 200],
    why: 'A ref may name a version by its index wherever an object may be read by it.',
  },
  {
    at: ['files: content: uploads an empty one'],
    place: 'status',
    values: [404, 200],
    why: 'An empty file is a file; the reference stores no piece of it.',
  },
  {
    at: ['files: sizes'],
    place: 'body.total_size_bytes',
    why: 'The same content is stored once; the reference counts every upload that it has not merged yet.',
    byChance: true,
  },
]

const FEEDBACK: readonly WantedDifference[] = [
  {
    at: ['feedback: reaction with a space'],
    place: 'status',
    values: [200, 400],
    why: 'A reaction is one emoji; the space before it is none.',
  },
  {
    at: ['feedback: one field of payloads', 'feedback: some fields'],
    place: 'body.result[*].payload.*',
    why: 'A field of a payload is what it is in the payload, and null where there is none; the reference tells its text, and nothing of a list.',
  },
  {
    at: ['feedback: where *wb_user_id*'],
    place: 'body.result',
    why: 'A user is asked for by the id that replies show; the reference compares it with its internal id.',
  },
  {
    at: ['feedback: where *$literal":null*'],
    place: 'body.result',
    why: 'Null matches what is not there.',
  },
  {
    at: ['feedback stats: stats: kinds'],
    place: '*count*',
    values: [4, 3],
    why: 'What is counted is the values; the reference counts feedback without one as well.',
  },
  {
    at: [
      'feedback stats: stats: in another zone',
      'usage: stats: in India',
      'usage: stats: in New York by days',
    ],
    place: 'body.*buckets*',
    why: 'Buckets begin at the hours and days of the zone that was asked for; the reference takes those of UTC.',
  },
  {
    at: ['feedback stats: paths: all'],
    place: 'body.paths[*].value_type',
    values: ['boolean', null],
    why: 'A path that was only ever null has no kind, which newer clients know.',
  },
]

const COSTS_AND_USAGE: readonly WantedDifference[] = [
  {
    at: ['costs: *'],
    place: 'body.results[*].cache_*_input_token_cost',
    why: 'Newer clients read the field, which came after the compared version.',
  },
  {
    at: ['costs: a field of the level'],
    place: 'status',
    values: [200, 400],
    why: 'The level of a price is no field of the reply, so it cannot be chosen.',
  },
  {
    at: ['costs: cost*'],
    place: '*.pricing_level_id',
    why: 'The reference lets its internal ids of projects out.',
  },
  {
    at: ['costs: cost of a', 'costs: cost of one call'],
    place: '*.costs.unpriced',
    why: 'A model without a price has no costs; the reference lists it with nulls.',
  },
  {
    at: ['costs: cost of default', 'usage: trace: costs', 'usage: calls: costs'],
    place: '*_total_cost',
    why: PRICES,
  },
  ...['effective_date', 'created_at', 'created_by'].map((name) => ({
    at: ['costs: cost of default'],
    place: `*.${name}`,
    why: 'Heddle has a price list of its own, with the date of that list.',
  })),
  ...['sum_cache_*', 'sum_*_cost'].map((name) => ({
    at: ['usage: stats: costs'],
    place: `body.usage_buckets[*].${name}`,
    why: 'Cached tokens have their own price, as in the costs of a call; the reference charges them as all others, at prices of 32 bits.',
  })),
  {
    at: ['usage: stats: tokens', 'usage: stats: tokens by half hours', 'usage: stats: all'],
    place: 'body.usage_buckets[*].*_total_tokens',
    why: 'A missing total is the sum of input and output, as in the usage of a call; the reference takes it as none.',
  },
  {
    at: ['usage: stats: latency', 'usage: stats: all'],
    place: 'body.call_buckets[*].*latency_ms',
    why: 'A call that has not ended has no latency; the reference counts it as ended in 1970.',
  },
  {
    at: ['usage: stats: nothing'],
    place: 'body.granularity',
    values: [0, 3600],
    why: 'The granularity is the one that buckets would have.',
  },
  {
    at: ['usage: stats: a user'],
    place: 'body.call_buckets[*].*count',
    why: 'A user is asked for by the id that replies show; the reference compares it with its internal id.',
  },
  {
    at: ['usage: stats: granularity 0'],
    place: 'status',
    values: [500, 422],
    why: 'A granularity that is none is the mistake of the client.',
  },
  {
    at: ['usage: stats: percentile 99.9'],
    place: 'status',
    values: [502, 200],
    why: 'Percentiles between whole ones are allowed by the schema; the reference fails.',
  },
  {
    at: ['usage: stats: an unknown zone'],
    place: 'status',
    values: [502, 422],
    why: 'A zone that is none is the mistake of the client.',
  },
  {
    at: ['threads: before, in another zone'],
    place: 'body',
    why: 'The offset of a time counts; the reference drops it.',
  },
  {
    at: ['service: sizes'],
    place: 'body.*_storage_size_bytes',
    values: [8, 7],
    why: 'Sizes are of the text that a client sent; the reference counts its own notation, with more spaces.',
  },
  {
    at: ['service: sizes: only *'],
    place: 'status',
    values: [500, 200],
    why: 'Any of the sizes can be asked for alone; the reference fails.',
  },
]

const NO_COUNTERS = {
  prompt_tokens: null,
  input_tokens: null,
  completion_tokens: null,
  output_tokens: null,
  requests: null,
  total_tokens: null,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
}

const OTLP: readonly WantedDifference[] = [
  {
    at: ['otlp: exports *'],
    place: 'body.partial_success',
    values: [null, undefined],
    why: 'Replies are in the JSON of OTLP, where what is absent is left out.',
  },
  ...[
    ['exports in conflict', 'body.partial_success'],
    ['reads', 'body.call'],
  ].map(([title = '', place = '']) => ({
    at: [`span in conflict: ${title}`],
    place,
    why: 'The reference refuses a span with attributes `a` and `a.b`, which current instrumentations send: the model call would be lost.',
  })),
  ...[
    ['otlp: reads *', '*.op_name'],
    ['otlp: ops', 'body.objs[*].digest'],
    ['otlp: ops', 'body.objs[*].val.files.obj.py'],
  ].map(([at = '', place = '']) => ({
    at: [at],
    place,
    why: 'The op that stands for a span says in its source that there is none, in words of Heddle’s own.',
  })),
  {
    at: ['otlp: reads *'],
    place: '*.summary.usage.*',
    values: [null, undefined],
    why: 'Counters that a span does not have are left out; the reference lists them with null.',
  },
  {
    at: ['otlp: reads *'],
    place: '*.summary.usage',
    values: [{ usage: NO_COUNTERS }, undefined],
    why: 'A span that counts nothing has no usage; the reference lists every counter with null.',
  },
  {
    at: ['otlp: ops'],
    place: 'body.objs[*].object_id',
    why: 'Names that are too long end at their length and not at a word.',
  },
  {
    at: ['otlp: reads wandb', 'otlp: reads a name that is far*', 'otlp: reads all'],
    place: '*.summary.weave.trace_name',
    why: 'A call that has a display name shows that one only, also when it was a span; long names end at their length.',
  },
  ...['exception', 'summary.weave.status'].map((name) => ({
    at: ['otlp: reads failed without words', 'otlp: reads all'],
    place: `*.${name}`,
    why: 'A span that failed is a call that failed, also when it does not say why.',
  })),
]

export const WANTED_IN_THE_REST: readonly WantedDifference[] = [
  ...OBJECTS,
  ...TABLES_REFS_FILES,
  ...FEEDBACK,
  ...COSTS_AND_USAGE,
  ...OTLP,
]
