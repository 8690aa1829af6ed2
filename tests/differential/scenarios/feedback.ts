import { fieldOf, idOf, type Request, refTo, scenario } from '../scenario.ts'
import { compare, convert, expression, field, literal } from './expressions.ts'

/** Feedback of every kind, and what is refused. */
export const feedback = scenario('feedback', (project, ask) => {
  const ref = `weave:///${project}/call/${idOf('about')}`
  const create = (title: string, feedback_type: string, payload: unknown, fields: object = {}) =>
    ask(title, '/feedback/create', {
      id: idOf(`${project} ${title}`),
      weave_ref: ref,
      feedback_type,
      payload,
      ...fields,
    })
  const item = (title: string, feedback_type: string, payload: unknown) => ({
    project_id: project,
    id: idOf(`${project} ${title}`),
    weave_ref: ref,
    feedback_type,
    payload,
  })
  const batch = (title: string, ...items: object[]) =>
    ask(title, '/feedback/batch/create', { project_id: undefined, batch: items })
  // The items of one batch may share their time.
  const byTime = [
    { field: 'created_at', direction: 'asc' },
    { field: 'id', direction: 'asc' },
  ]
  const query = (title: string, fields: object) =>
    ask(title, '/feedback/query', { sort_by: byTime, ...fields })
  const spec = refTo(project, 'quality', 'spec')
  const run = {
    runnable_ref: `weave:///${project}/op/judge:v0`,
    call_ref: `weave:///${project}/call/${idOf('judging')}`,
  }
  const object = { runnable_ref: `weave:///${project}/object/judge:v0` }
  return [
    query('nothing yet', {}),
    ...['👍', '👍🏽', '❤️', '🏳️‍🌈', '👨‍👩‍👧', 'x', '👍👍', ''].map((emoji) =>
      create(`reaction "${emoji}"`, 'wandb.reaction.1', { emoji }),
    ),
    create('a reaction with more', 'wandb.reaction.1', { emoji: '🎉', more: 1 }),
    create('a reaction without an emoji', 'wandb.reaction.1', {}),
    create('a note', 'wandb.note.1', { note: 'well “done”\n' }),
    create('an empty note', 'wandb.note.1', { note: '' }),
    create('a note of 1024', 'wandb.note.1', { note: 'x'.repeat(1024) }),
    create('a note of 1025', 'wandb.note.1', { note: 'x'.repeat(1025) }),
    create('a note that is a number', 'wandb.note.1', { note: 1 }),
    create('own', 'own', { any: ['thing', 1.5, null], 'k.k': { deep: true } }),
    create('own without a payload', 'own', undefined),
    create('own with a payload of text', 'own', 'text'),
    create('an unknown type of the service', 'wandb.other.1', { a: 1 }),
    create('own with a runnable', 'own', {}, object),
    create('own with a creator', 'own', { a: 1 }, { creator: 'Someone' }),
    create('own by another user', 'own', { a: 1 }, { wb_user_id: 'someone' }),
    create('without an id', 'own', { a: 2 }, { id: undefined }),
    create('with an id that is none', 'own', { a: 2 }, { id: 'nope' }),
    create('about an object', 'own', { a: 3 }, { weave_ref: `weave:///${project}/object/o:abc` }),
    create('about nothing', 'own', { a: 3 }, { weave_ref: undefined }),
    create('about half a ref', 'own', { a: 3 }, { weave_ref: 'weave:///x' }),
    create('about no ref', 'own', { a: 3 }, { weave_ref: 'call' }),
    create('without a type', 'own', { a: 3 }, { feedback_type: undefined }),
    create('with an empty type', '', { a: 3 }),
    create('with a ref in the payload', 'own', { r: `weave:///${project}/object/o:abc` }),
    create('a score of an op', 'wandb.runnable.judge', { output: { s: 0.5 } }, run),
    create('a score of an object', 'wandb.runnable.judge', { output: 1 }, object),
    create('a score without a runnable', 'wandb.runnable.judge', { output: 1 }),
    create(
      'a score of an op without a call',
      'wandb.runnable.judge',
      { output: 1 },
      { ...run, call_ref: undefined },
    ),
    create('a score of another runnable', 'wandb.runnable.other', { output: 1 }, object),
    create('a score without an output', 'wandb.runnable.judge', { value: 1 }, object),
    create(
      'a score with a trigger',
      'wandb.runnable.judge',
      { output: 1 },
      { ...object, trigger_ref: `weave:///${project}/object/mon:v1` },
    ),
    create('a score without a name', 'wandb.runnable.', { output: 1 }, object),
    ask('spec', '/obj/create', {
      project_id: undefined,
      obj: {
        project_id: project,
        object_id: 'quality',
        val: {
          _type: 'AnnotationSpec',
          _class_name: 'AnnotationSpec',
          _bases: ['BaseObject', 'BaseModel'],
          name: 'Quality',
          field_schema: { type: 'integer', minimum: 1, maximum: 5 },
        },
      },
    }),
    create('an annotation', 'wandb.annotation.quality', { value: 3 }, { annotation_ref: spec }),
    create('an annotation out of range', 'wandb.annotation.quality', { value: 9 }, { annotation_ref: spec }),
    create(
      'an annotation of the wrong kind',
      'wandb.annotation.quality',
      { value: 'good' },
      { annotation_ref: spec },
    ),
    create('an annotation without a value', 'wandb.annotation.quality', {}, { annotation_ref: spec }),
    create('an annotation without a ref', 'wandb.annotation.quality', { value: 3 }),
    create('an annotation of another name', 'wandb.annotation.other', { value: 3 }, { annotation_ref: spec }),
    batch(
      'several',
      item('batched 1', 'own', { b: 1 }),
      item('batched 2', 'wandb.reaction.1', { emoji: '🚀' }),
    ),
    batch('none'),
    batch(
      'one bad among good',
      item('batched 3', 'own', { b: 3 }),
      item('batched 4', 'wandb.note.1', { note: '' }),
    ),
    ...queries(query, ref),
    ask('counts', '/feedback/query', { fields: ['count(*)'] }),
    ask('replaces', '/feedback/replace', {
      feedback_id: idOf(`${project} own`),
      weave_ref: ref,
      feedback_type: 'own',
      payload: { replaced: true },
    }),
    query('after a replacement', { query: compare('$eq', 'feedback_type', 'own') }),
    ask('replaces an unknown one', '/feedback/replace', {
      feedback_id: idOf('nope'),
      weave_ref: ref,
      feedback_type: 'own',
      payload: { replaced: 'nothing' },
    }),
    ask('replaces with something bad', '/feedback/replace', {
      feedback_id: idOf(`${project} a note`),
      weave_ref: ref,
      feedback_type: 'wandb.note.1',
      payload: { note: '' },
    }),
    ask('purges one', '/feedback/purge', { query: compare('$eq', 'id', idOf(`${project} a note`)) }),
    ask('purges some', '/feedback/purge', {
      query: expression({
        $or: ['batched 1', 'batched 2'].map(
          (title) => compare('$eq', 'id', idOf(`${project} ${title}`)).$expr,
        ),
      }),
    }),
    ask('purges one without an id', '/feedback/purge', {
      query: compare('$eq', 'id', fieldOf('without an id', 'id')),
    }),
    ask('purges an unknown one', '/feedback/purge', { query: compare('$eq', 'id', idOf('nope')) }),
    ask('purges by type', '/feedback/purge', { query: compare('$eq', 'feedback_type', 'own') }),
    ask('purges all', '/feedback/purge', {}),
    query('what is left', { fields: ['feedback_type', 'payload'] }),
    create('reaction with a space', 'wandb.reaction.1', { emoji: ' 👍' }),
    create(
      'one project in another',
      'own',
      { a: 1 },
      { weave_ref: `weave:///differential/nobody/call/${idOf('x')}` },
    ),
  ]
})

function queries(query: (title: string, fields: object) => Request, ref: string): Request[] {
  const where = (operation: Record<string, unknown>) =>
    query(`where ${JSON.stringify(operation)}`, { query: operation })
  return [
    query('all', {}),
    query('some fields', { fields: ['id', 'feedback_type', 'payload.note', 'payload.output.s'] }),
    query('one field of payloads', { fields: ['payload.any'] }),
    query('an unknown field', { fields: ['nope'] }),
    query('no fields', { fields: [] }),
    query('a page', { limit: 3, offset: 2 }),
    query('no page', { limit: 0 }),
    query('newest first', {
      sort_by: [
        { field: 'created_at', direction: 'desc' },
        { field: 'id', direction: 'desc' },
      ],
    }),
    query('by type', {
      sort_by: [
        { field: 'feedback_type', direction: 'asc' },
        { field: 'created_at', direction: 'desc' },
      ],
    }),
    query('by a payload', {
      sort_by: [
        { field: 'payload.note', direction: 'desc' },
        { field: 'id', direction: 'asc' },
      ],
    }),
    query('by an unknown field', { sort_by: [{ field: 'nope', direction: 'asc' }] }),
    where(compare('$eq', 'weave_ref', ref)),
    where(compare('$eq', 'feedback_type', 'wandb.reaction.1')),
    where(compare('$eq', 'wb_user_id', 'local')),
    where(compare('$eq', 'creator', 'Someone')),
    where(compare('$eq', 'creator', null)),
    where(compare('$eq', 'payload.emoji', '👍')),
    where(compare('$eq', 'payload.alias', ':thumbs_up:')),
    where(compare('$eq', 'payload.deep', 'nope')),
    where(compare('$eq', 'payload.output', '1')),
    where(expression({ $eq: [convert('payload.a', 'double'), literal(1)] })),
    where(expression({ $in: [field('feedback_type'), [literal('own'), literal('wandb.note.1')]] })),
    where(
      expression({
        $contains: { input: field('feedback_type'), substr: literal('NOTE'), case_insensitive: true },
      }),
    ),
    where(expression({ $not: [compare('$eq', 'feedback_type', 'own').$expr] })),
    where(
      expression({
        $and: [compare('$eq', 'feedback_type', 'own').$expr, compare('$eq', 'creator', 'Someone').$expr],
      }),
    ),
    where(
      expression({
        $or: [compare('$eq', 'feedback_type', 'nope').$expr, compare('$eq', 'creator', 'Someone').$expr],
      }),
    ),
    where(compare('$eq', 'nope', 'a')),
  ]
}
