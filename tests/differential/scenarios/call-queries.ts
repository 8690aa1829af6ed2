import { idOf, type Scenario, scenario } from '../scenario.ts'
import { compare, convert, expression, field, literal } from './expressions.ts'
import { type Writing, writeCalls } from './query-calls.ts'

/** Every operator, conversion and kind of path. */
export function callQueries(writing: Writing): Scenario {
  return scenario(`call queries ${writing}`, (project, ask) => {
    const id = (name: string) => idOf(`${project} ${name}`)
    const query = (title: string, fields: Record<string, unknown>) =>
      ask(title, '/calls/stream_query', fields)
    const where = (title: string, operation: Record<string, unknown>) =>
      query(`where ${title}`, { query: operation })
    const shown = (value: unknown) => JSON.stringify(value)

    const values = ['1', '9', 'abc', '', true, null]
    const operators = ['$eq', '$gt', '$gte', '$lt', '$lte']
    const fields = ['inputs.x', 'inputs.flag', 'output', 'inputs.missing']
    return [
      ...writeCalls(project, ask, writing),
      query('all', {}),
      ...fields.flatMap((name) =>
        values.map((value) => where(`${name} $eq ${shown(value)}`, compare('$eq', name, value))),
      ),
      ...operators.flatMap((operator) =>
        [1, 9, -2.5, '9', 'abc'].flatMap((value) =>
          ['double', 'int'].map((to) =>
            where(
              `inputs.x as ${to} ${operator} ${shown(value)}`,
              expression({ [operator]: [convert('inputs.x', to), literal(value)] }),
            ),
          ),
        ),
      ),
      ...operators.map((operator) =>
        where(`inputs.s ordered ${operator} "abc"`, compare(operator, 'inputs.s', 'abc')),
      ),
      ...['string', 'bool', 'exists'].flatMap((to) =>
        [true, false, 'true', '1', '', 1, 0].map((value) =>
          where(
            `inputs.flag as ${to} $eq ${shown(value)}`,
            expression({ $eq: [convert('inputs.flag', to), literal(value)] }),
          ),
        ),
      ),
      ...[
        'inputs.x',
        'inputs.s',
        'inputs.missing',
        'output',
        'output.r',
        'inputs',
        'exception',
        'parent_id',
      ].map((name) => where(`${name} exists`, expression({ $eq: [convert(name, 'exists'), literal(true)] }))),
      ...['root', 'ROOT', 'child', ''].flatMap((text) =>
        [true, false, undefined].map((case_insensitive) =>
          where(
            `op_name $contains ${shown(text)} ${case_insensitive}`,
            expression({ $contains: { input: field('op_name'), substr: literal(text), case_insensitive } }),
          ),
        ),
      ),
      ...['inputs.s', 'inputs.missing', 'output.r', 'parent_id', 'exception', 'inputs_dump'].flatMap((name) =>
        [true, false].map((case_insensitive) =>
          where(
            `${name} $contains nothing ${case_insensitive}`,
            expression({ $contains: { input: field(name), substr: literal(''), case_insensitive } }),
          ),
        ),
      ),
      ...["it's", '100%', '%', '_', '\\', '"so"', 'é', '😀', 'É', 'e'].map((text) =>
        where(
          `inputs.s $contains ${text}`,
          expression({
            $contains: { input: field('inputs.s'), substr: literal(text), case_insensitive: true },
          }),
        ),
      ),
      ...['it\'s 100% \\ "so" _é😀', "'", '); DROP TABLE calls', '{x:String}', '%s'].map((text) =>
        where(`inputs.s $eq ${text}`, compare('$eq', 'inputs.s', text)),
      ),
      ...[['1', '10'], ['abc'], [], ['nope'], ['1', null]].map((list) =>
        where(`inputs.x $in ${shown(list)}`, expression({ $in: [field('inputs.x'), list.map(literal)] })),
      ),
      where(
        'inputs.x as double $in [1,10]',
        expression({ $in: [convert('inputs.x', 'double'), [1, 10].map(literal)] }),
      ),
      where('id $in', expression({ $in: [field('id'), [id('root'), id('text'), 'zz'].map(literal)] })),
      where(
        '$and',
        expression({
          $and: [compare('$eq', 'op_name', 'root').$expr, compare('$eq', 'inputs.x', '1').$expr],
        }),
      ),
      where(
        '$or',
        expression({
          $or: [compare('$eq', 'op_name', 'root').$expr, compare('$eq', 'inputs.s', 'ten').$expr],
        }),
      ),
      where('$and of one', expression({ $and: [compare('$eq', 'op_name', 'root').$expr] })),
      where('$or of one', expression({ $or: [compare('$eq', 'op_name', 'root').$expr] })),
      where('$and of none', expression({ $and: [] })),
      where('$or of none', expression({ $or: [] })),
      where('$not', expression({ $not: [compare('$eq', 'op_name', 'root').$expr] })),
      where('$not of a missing field', expression({ $not: [compare('$eq', 'inputs.missing', 'a').$expr] })),
      where(
        '$not $or',
        expression({
          $not: [{ $or: [compare('$eq', 'op_name', 'root').$expr, compare('$eq', 'op_name', 'text').$expr] }],
        }),
      ),
      where('two literals', expression({ $eq: [literal('1'), literal('1')] })),
      where('two fields', expression({ $eq: [field('op_name'), field('display_name')] })),
      where('two leaves', expression({ $eq: [field('inputs.x'), field('inputs.s')] })),
      ...[
        ['inputs.x.y.z', 'deep'],
        ['inputs.dotted\\.key', 'dot'],
        ['inputs.dotted.key', 'dot'],
        ['inputs.list.0', '1'],
        ['inputs.list.2.a', 'b'],
        ['inputs.list.9', ''],
        ['attributes.env', 'prod'],
        ['attributes.n', '3'],
        ['summary.usage.m.total_tokens', '5'],
        ['output', 'plain text'],
        ['op_name', 'root'],
        ['display_name', 'Root'],
        ['trace_id', id('trace of root')],
        ['parent_id', id('root')],
        ['parent_id', null],
        ['parent_id', ''],
        ['exception', 'ValueError: no'],
        ['exception', null],
        ['ended_at', null],
        ['display_name', null],
        ['thread_id', 't1'],
        ['thread_id', null],
        ['turn_id', 'u2'],
        ['wb_user_id', 'local'],
        ['wb_run_id', null],
        ['wb_run_step', null],
        ['summary.weave.status', 'success'],
        ['summary.weave.status', 'error'],
        ['summary.weave.status', 'running'],
        ['summary.weave.status', 'descendant_error'],
        ['summary.weave.trace_name', 'Root'],
        ['summary.weave.trace_name', 'child'],
      ].map(([name, value]) => where(`${name} is ${value}`, compare('$eq', String(name), value))),
      where('latency over 500', compare('$gt', 'summary.weave.latency_ms', 500)),
      where('latency under 0', compare('$lt', 'summary.weave.latency_ms', 0)),
      ...['started_at', 'ended_at'].flatMap((name) =>
        ['$gt', '$lte', '$eq'].flatMap((operator) =>
          [1704067204.5, 1704067204, '2024-01-01T01:00:04.5+01:00', '2024-01-01', '2024-01-02'].map((value) =>
            where(`${name} ${operator} ${shown(value)}`, compare(operator, name, value)),
          ),
        ),
      ),
      ...[
        'nope',
        'summary.weave.nope',
        'weave',
        'inputs.',
        '',
        'feedback.x.payload',
        'annotation_queue_items.queue_id',
      ].map((name) => where(`the field "${name}"`, compare('$eq', name, 'a'))),
      where('an unknown operator', expression({ $near: [field('op_name'), literal('a')] })),
      where(
        'two operators at once',
        expression({ $eq: [field('op_name'), literal('a')], $gt: [field('id'), literal('a')] }),
      ),
      where('one operand', expression({ $eq: [field('op_name')] })),
      where('an unknown conversion', expression({ $eq: [convert('inputs.x', 'date'), literal('a')] })),
      where('no $expr', { $eq: [field('op_name'), literal('a')] }),
      where('a number without $convert', compare('$eq', 'inputs.x', 1)),
      where('a number without $convert, ordered', compare('$gt', 'inputs.x', 5)),
    ]
  })
}
