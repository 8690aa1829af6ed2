import type { WantedDifference } from './wanted-differences.ts'

const WRITING: readonly WantedDifference[] = [
  {
    at: ['call writing: a start time that is a number'],
    place: 'status',
    values: [200, 422],
    why: 'Times are texts, as the published schema says and as every client sends them.',
  },
  {
    at: ['call writing: the deleted are gone'],
    place: 'body',
    why: 'The call with a number for its start was refused.',
  },
  {
    at: ['call writing: a negative run step'],
    place: 'status',
    values: [500, 422],
    why: 'A step that is none is the mistake of the client.',
  },
  {
    at: ['call writing v2: counts one', 'call writing v2: lists several'],
    place: 'body*',
    why: 'A client that repeats a batch, because it did not get the answer, must not write its calls twice.',
  },
  {
    at: ['call writing v2: reads what named another project', 'call writing v2: what is left'],
    place: 'body*',
    why: 'The project of the path is the one that access was checked for; what items say does not count.',
  },
  {
    at: ['call batches: counts what is left'],
    place: 'body.total_storage_size_bytes',
    values: [0, null],
    why: 'Null is the hosted answer when no size was asked for; the looser store says 0.',
  },
]

const ABSENT =
  'A leaf that is absent or null is null and not empty text: only so can a query tell them apart.'

const QUERIES: readonly WantedDifference[] = [
  {
    at: [
      ...['$eq ""', '$eq null'].map((end) => `call queries *: where inputs.* ${end}`),
      'call queries *: where output $eq null',
      'call queries *: where inputs.flag as string $eq ""',
      'call queries *: where inputs.x $in ["1",null]',
      'calls by feedback: *$literal":null*',
    ],
    place: 'body',
    why: ABSENT,
  },
  {
    at: [
      'call queries *: where * exists',
      'call queries *: where inputs.flag as exists $eq true',
      'call queries *: where inputs.flag as exists $eq false',
      'call queries *: where inputs.flag as exists $eq "1"',
      'call queries *: where inputs.flag as exists $eq 1',
      'call queries *: where inputs.flag as exists $eq 0',
      'calls by feedback: *"to":"exists"*',
    ],
    place: 'body',
    why: 'In the hosted service everything exists, because absent leaves are empty text there.',
  },
  {
    at: [
      'call queries at once: where parent_id is ',
      'call queries at once: where ended_at $lte*',
      'call queries at once: where $not of a missing field',
    ],
    place: 'body',
    why: 'Of calls that came at once the hosted service stores what is absent as empty text or as the year 1970; of calls that came in parts it answers as Heddle.',
  },
  {
    at: [
      ...['ended_at', 'display_name', 'exception', 'wb_run_step', 'thread_id'].map(
        (name) => `call filters at once: sorted by ${name} asc`,
      ),
    ],
    place: 'body',
    why: 'Absent values come last, as they do in the hosted service for calls that came in parts.',
  },
  {
    at: [
      'call queries *: where inputs.* $eq true',
      'call queries *: where output $eq true',
      'call queries *: where inputs.flag as string $eq*',
      'call queries *: where a number without $convert*',
    ],
    place: 'status',
    values: [400, 200],
    why: 'A literal of another kind is compared by value; clients that had to convert get the same calls.',
  },
  {
    at: [
      'call queries *: where inputs.flag as exists $eq "true"',
      'call queries *: where inputs.flag as exists $eq ""',
      'call queries *: where inputs.x as int *"abc"',
    ],
    place: 'status',
    values: [400, 200],
    why: 'A literal that cannot be what the operand is matches nothing.',
  },
  {
    at: ['call queries *: where inputs.x as double *"abc"'],
    place: 'status',
    values: [502, 200],
    why: 'A literal that cannot be what the operand is matches nothing; the reference fails.',
  },
  {
    at: ['call queries *: where inputs.flag as bool $eq*'],
    place: 'body',
    why: 'True and false of JSON are truth values; the hosted conversion knows only 0 and 1.',
  },
  {
    at: [
      'call queries *: where inputs.x $eq "1"',
      'call queries *: where inputs.x $in ["1","10"]',
      'call queries *: where $and',
      'call queries *: where inputs.list.0 is 1',
      'call queries *: where attributes.n is 3',
    ],
    place: 'body',
    why: 'Numbers are equal to their text; the hosted service means so too, but first looks for the quoted text in the JSON.',
  },
  {
    at: ['call queries *: where inputs.s $contains *', 'call queries *: where inputs.s $eq it*'],
    place: 'body',
    why: 'The hosted service first looks for the text in the JSON, where letters and quotes may be escaped, and misses them.',
  },
  {
    at: ['call queries *: where wb_user_id is local'],
    place: 'body',
    why: 'A user is asked for by the id that replies show; the reference compares it with its internal id.',
  },
  {
    at: ['call queries *: where the field "summary.weave.nope"'],
    place: 'status',
    values: [500, 403],
    why: 'An unknown field is refused.',
  },
  {
    at: ['call queries *: where the field "inputs."'],
    place: 'status',
    values: [502, 403],
    why: 'An unknown field is refused.',
  },
  {
    at: ['call queries *: where two operators at once'],
    place: 'status',
    values: [200, 422],
    why: 'An operation has one operator; the reference takes the first and drops the rest.',
  },
]

const FILTERS: readonly WantedDifference[] = [
  {
    at: ['call filters *: an unknown filter'],
    place: 'status',
    values: [422, 200],
    why: 'Fields that are not known are ignored, because newer clients send some.',
  },
  {
    at: ['call filters at once: counted to 3'],
    place: 'body.count',
    values: [9, 3],
    why: 'A limit limits the count, as the hosted service does for calls that came in parts.',
  },
  {
    at: ['call filters *: a project without an entity'],
    place: 'body',
    why: 'The reference took a call of such a project, Heddle refused it.',
  },
  ...['storage_size_bytes', 'total_storage_size_bytes'].map((name) => ({
    at: ['call filters *: *size*'],
    place: `body*.${name}`,
    why: 'Sizes are of the text that a client sent; the reference counts its own notation, with more spaces.',
  })),
  ...[
    ['display_name', 'thread_id', 'turn_id', 'parent_id', 'ended_at', 'exception', 'wb_user_id', 'wb_run_id'],
    ['wb_run_step', 'wb_run_step_end', 'summary.weave.*'],
  ]
    .flat()
    .map((name) => ({
      at: ['call filters *: columns *'],
      place: `body[*].${name}`,
      why: 'Small columns are always there, whatever was asked for: without them the derived summary would be wrong.',
    })),
]

const EMPTY_TEXT: readonly WantedDifference[] = ['parent_id', 'exception'].map((name) => ({
  at: [`call queries in parts: where ${name} $contains nothing *`],
  place: 'body',
  why: 'The empty text is in all, however a call came in; the reference finds it there only in calls that came at once.',
}))

const DETAILS: readonly WantedDifference[] = [
  ...['ended_at', 'wb_user_id', 'summary.weave.*'].map((name) => ({
    at: ['expanded calls: expanded and chosen'],
    place: `body[*].${name}`,
    why: 'Small columns are always there, whatever was asked for: without them the derived summary would be wrong.',
  })),
  {
    at: ['costs: costs of some columns'],
    place: 'body[0].wb_user_id',
    why: 'Small columns are always there, whatever was asked for.',
  },
  {
    at: ['expanded calls: expanded with one that leads nowhere'],
    place: 'status',
    values: [404, 200],
    why: 'A ref that leads nowhere stays what it is; in the reference one of them fails the whole query.',
  },
  {
    at: [
      'expanded calls: where *config.name*"cold"*',
      'expanded calls: where *model.size*',
      'expanded calls: sorted *',
    ],
    place: 'body',
    why: 'A path through an expanded column means the value, whether it is there or behind a ref; the reference looks only behind refs.',
  },
  {
    at: ['expanded calls: where *output.name*'],
    place: 'body',
    why: 'An output that is a ref is looked behind, as an input is.',
  },
  {
    at: ['expanded calls: counted'],
    place: 'body.count',
    values: [0, 1],
    why: 'An output that is a ref is looked behind, as an input is.',
  },
  {
    at: ['calls by feedback: where *$not*'],
    place: 'body',
    why: 'The negation of a condition finds the calls that the condition does not; for notes the reference finds both.',
  },
  {
    at: ['calls by feedback: sorted by feedback.[wandb.note.1].payload.note desc'],
    place: 'body',
    why: 'A call with several notes is sorted by the greatest when the greatest come first.',
  },
  {
    at: ['calls by feedback: with feedback'],
    place: 'body[0].summary.weave.feedback',
    why: 'Feedback comes in the order in which it was given; that of the reference is by chance.',
    byChance: true,
  },
  {
    at: ['calls by feedback: one with feedback'],
    place: 'status',
    values: [422, 200],
    why: 'Newer clients ask for the feedback of one call, which came after the compared version.',
  },
]

export const WANTED_IN_CALLS: readonly WantedDifference[] = [
  ...WRITING,
  ...QUERIES,
  ...FILTERS,
  ...EMPTY_TEXT,
  ...DETAILS,
]
