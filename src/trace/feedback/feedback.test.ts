import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, useTestServer } from '../../testing.ts'

const server = useTestServer()

function note(project_id: string, fields: Fields = {}): Fields {
  const weave_ref = `weave:///${project_id}/call/${newId()}`
  return { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: 'good' }, ...fields }
}

async function create(body: Fields): Promise<Fields> {
  const response = await server.post('/feedback/create', body)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Fields
}

async function query(
  project_id: string,
  fields: Fields = {},
): Promise<{ result: Fields[]; total_count: number }> {
  const response = await server.post('/feedback/query', { project_id, ...fields })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as { result: Fields[]; total_count: number }
}

const equals = (field: string, literal: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: literal }] },
})

describe('POST /feedback/create', () => {
  it('200 with the id of the client, the user of the key, and unknown fields passed over', async () => {
    const project = server.newProject()
    const id = newId()
    const sent = note(project, {
      id,
      creator: 'someone else',
      wb_user_id: 'x',
      scorer_tags: [],
      span_trace_id: '',
    })
    const expected = { id, created_at: expect.any(String), wb_user_id: 'local', payload: { note: 'good' } }
    expect(await create(sent)).toEqual(expected)
    expect(await create(sent)).toEqual(expected)
    const { result, total_count } = await query(project)
    expect(total_count).toBe(1)
    expect(result).toEqual([
      {
        ...expected,
        project_id: project,
        weave_ref: sent['weave_ref'],
        creator: 'someone else',
        feedback_type: 'wandb.note.1',
        annotation_ref: null,
        runnable_ref: null,
        call_ref: null,
        trigger_ref: null,
        queue_id: null,
      },
    ])
  })

  it('200 and numbers stay as they were sent', async () => {
    const project = server.newProject()
    const payload = '{"b":1.0,"a":12345678901234567890,"e":1e400}'
    const body = JSON.stringify(note(project, { feedback_type: 'reward', payload: 0 }))
    const init = { method: 'POST', body: body.replace('"payload":0', `"payload":${payload}`) }
    expect(await (await server.request('/feedback/create', init)).text()).toContain(payload)
    const found = await server.post('/feedback/query', {
      project_id: project,
      fields: ['payload', 'payload.e'],
    })
    expect(await found.text()).toBe(`{"result":[{"payload":${payload},"payload.e":1e400}],"total_count":1}`)
  })

  it.each([
    ['👍', ':thumbs_up:', '👍', ':thumbs_up:'],
    ['👍🏾', ':thumbs_up_medium-dark_skin_tone:', '👍', ':thumbs_up:'],
    ['❤', ':red_heart:', '❤️', ':red_heart:'],
    ['❤️', ':red_heart:', '❤️', ':red_heart:'],
    ['🇫🇷', ':France:', '🇫🇷', ':France:'],
    ['👩🏽‍🦰', ':woman_medium_skin_tone_red_hair:', '👩‍🦰', ':woman_red_hair:'],
    ['🫱🏿‍🫲🏻', ':handshake_dark_skin_tone_light_skin_tone:', '🤝', ':handshake:'],
    ['🕵🏽‍♂', ':man_detective_medium_skin_tone:', '🕵️‍♂️', ':man_detective:'],
    ['🇨🇬', ':Congo-Brazzaville:', '🇨🇬', ':Congo-Brazzaville:'],
    ['👌', ':OK_hand:', '👌', ':OK_hand:'],
  ])('200 with the names of the reaction %s', async (emoji, alias, detoned, detoned_alias) => {
    const feedback = note(server.newProject(), { feedback_type: 'wandb.reaction.1', payload: { emoji } })
    expect(await create(feedback)).toMatchObject({ payload: { emoji, alias, detoned, detoned_alias } })
  })

  it.each<[string, Fields]>([
    ['two emojis', { feedback_type: 'wandb.reaction.1', payload: { emoji: '👍👍' } }],
    ['a tone on what has none', { feedback_type: 'wandb.reaction.1', payload: { emoji: '😀🏽' } }],
    ['a letter as emoji', { feedback_type: 'wandb.reaction.1', payload: { emoji: 'a' } }],
    ['no emoji', { feedback_type: 'wandb.reaction.1', payload: {} }],
    ['an empty note', { payload: { note: '' } }],
    ['a long note', { payload: { note: 'x'.repeat(1025) } }],
    ['a note that is no text', { payload: { note: 1 } }],
    ['a large payload', { feedback_type: 'any', payload: { x: 'x'.repeat(1024 * 1024) } }],
    ['a runnable without its ref', { feedback_type: 'wandb.runnable.s', payload: { output: 1 } }],
    ['an op without call', runnable('op', { call_ref: null })],
    ['an invalid call', runnable('op', { call_ref: 'nope' })],
    ['a call that is an object', runnable('op', { call_ref: 'weave:///a/b/object/o:1' })],
    ['an invalid trigger', runnable('object', { trigger_ref: 'nope' })],
    ['a runnable of another name', runnable('object', { feedback_type: 'wandb.runnable.other' })],
    ['a runnable without output', runnable('object', { payload: {} })],
    ['an annotation without its ref', { feedback_type: 'wandb.annotation.s', payload: { value: 1 } }],
    ['refs that do not belong to the type', { runnable_ref: 'weave:///a/b/op/s:1' }],
    ['an unknown queue', { queue_id: newId() }],
    ['a malformed ref', { weave_ref: 'weave:///a' }],
    ['an internal ref', { weave_ref: 'weave-trace-internal:///x/call/y' }],
    [
      'an internal ref in the payload',
      { feedback_type: 'any', payload: { x: 'weave-trace-internal:///x/y' } },
    ],
    ['an invalid project', { project_id: 'p' }],
    ['an empty id', { id: '' }],
    ['reasons that are too long', { scorer_tag_reasons: { a: 'x'.repeat(1024 * 1024) } }],
  ])('400 for %s', async (_name, fields) => {
    const project = server.newProject()
    const response = await server.post('/feedback/create', note(project, fields))
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ reason: expect.any(String) })
    expect((await query(project)).total_count).toBe(0)
  })

  it('422 for missing and wrong fields', async () => {
    const response = await server.post('/feedback/create', { project_id: 1, payload: [] })
    expect(response.status).toBe(422)
    const { detail } = (await response.json()) as { detail: { loc: string[]; type: string }[] }
    expect(detail.map((item) => [item.loc.at(-1), item.type])).toEqual([
      ['project_id', 'string_type'],
      ['weave_ref', 'missing'],
      ['feedback_type', 'missing'],
      ['payload', 'dict_type'],
    ])
  })

  it('200 for runnables: objects, and ops with the call that ran them', async () => {
    for (const kind of ['op', 'object'] as const) await create(note(server.newProject(), runnable(kind, {})))
  })

  it('annotations must fit the schema of their spec', async () => {
    const project = server.newProject()
    const field_schema = { type: 'integer', minimum: 1, maximum: 5 }
    const val = {
      _type: 'AnnotationSpec',
      _class_name: 'AnnotationSpec',
      _bases: ['AnnotationSpec', 'BaseObject', 'BaseModel'],
      name: 'Stars',
      field_schema,
    }
    const made = await server.post('/obj/create', { obj: { project_id: project, object_id: 'stars', val } })
    const { digest } = (await made.json()) as { digest: string }
    const annotation = (value: unknown, fields: Fields = {}) =>
      note(project, {
        feedback_type: 'wandb.annotation.stars',
        annotation_ref: `weave:///${project}/object/stars:${digest}`,
        payload: { value },
        ...fields,
      })
    await create(annotation(5))
    const bad = [
      annotation(6),
      annotation('5'),
      annotation(5, { payload: {} }),
      annotation(5, { feedback_type: 'wandb.annotation.other' }),
      annotation(5, { annotation_ref: `weave:///${project}/op/stars:${digest}` }),
      annotation(5, { annotation_ref: `weave:///other/project/object/stars:${digest}` }),
    ]
    for (const feedback of bad) expect((await server.post('/feedback/create', feedback)).status).toBe(400)
    const unknown = annotation(5, { annotation_ref: `weave:///${project}/object/stars:${'x'.repeat(43)}` })
    expect((await server.post('/feedback/create', unknown)).status).toBe(404)
  })
})

function runnable(kind: 'op' | 'object', fields: Fields): Fields {
  return {
    feedback_type: 'wandb.runnable.score',
    payload: { output: null },
    runnable_ref: `weave:///a/b/${kind}/score:abc`,
    call_ref: `weave:///a/b/call/${newId()}`,
    ...fields,
  }
}

describe('POST /feedback/batch/create', () => {
  it('200 in order', async () => {
    const project = server.newProject()
    const ids = [newId(), newId()]
    const batch = ids.map((id) => note(project, { id }))
    const response = await server.post('/feedback/batch/create', { batch })
    expect(await response.json()).toMatchObject({ res: ids.map((id) => ({ id })) })
    expect((await query(project)).total_count).toBe(2)
  })

  it('413 for more than 1000', async () => {
    const batch = Array.from({ length: 1001 }, () => note(server.newProject()))
    expect((await server.post('/feedback/batch/create', { batch })).status).toBe(413)
  })
})

describe('POST /feedback/query', () => {
  async function seeded(): Promise<string> {
    const project = server.newProject()
    const batch = [3, 10, null].map((n) =>
      note(project, { feedback_type: `type.${n}`, payload: { n, list: [{ x: n }] } }),
    )
    await server.post('/feedback/batch/create', { batch })
    return project
  }

  it('413 for fields that show a large payload more often than a reply can hold', async () => {
    const project = server.newProject()
    const payload = { texts: ['x'.repeat(1_000_000)] }
    expect(
      (await server.post('/feedback/create', note(project, { payload, feedback_type: 'custom' }))).status,
    ).toBe(200)
    const fields = Array.from({ length: 270 }, (_, index) => `payload.texts.${'0'.repeat(index + 1)}`)
    const response = await server.post('/feedback/query', { project_id: project, fields })
    expect(response.status).toBe(413)
  })

  it('200 with exactly the requested fields', async () => {
    const project = await seeded()
    const { result, total_count } = await query(project, {
      fields: ['feedback_type', 'payload.n', 'payload.list.0.x', 'payload.none'],
      limit: 2,
      offset: 1,
    })
    expect(total_count).toBe(3)
    expect(result).toEqual([
      { feedback_type: 'type.10', 'payload.n': 10, 'payload.list.0.x': 10, 'payload.none': null },
      { feedback_type: 'type.null', 'payload.n': null, 'payload.list.0.x': null, 'payload.none': null },
    ])
  })

  it('200 filtered and sorted by payload', async () => {
    const project = await seeded()
    const types = async (fields: Fields) =>
      (await query(project, { fields: ['feedback_type'], ...fields })).result.map(
        (row) => row['feedback_type'],
      )
    expect(await types({ query: equals('payload.n', 10) })).toEqual(['type.10'])
    expect(await types({ query: equals('weave_ref', `' OR 1=1 --`) })).toEqual([])
    expect(await types({ sort_by: [{ field: 'payload.n', direction: 'desc' }] })).toEqual([
      'type.10',
      'type.3',
      'type.null',
    ])
    expect(await types({ limit: 0 })).toEqual([])
  })

  const said = {
    scorer_tags: ['rude', 'off topic'],
    scorer_tag_reasons: { rude: 'said "no"/never' },
    scorer_tag_confidences: { rude: 0.75 },
    scorer_ratings: { quality: 0.5, 'a.b': 1 },
    scorer_rating_reasons: { quality: 'short' },
    scorer_rating_confidences: { quality: 0.25 },
    scorer_trace_id: 'judge-trace',
    span_agent_name: 'helper',
    span_agent_version: '2',
    span_status_code: 'OK',
    span_conversation_id: 'talk',
    span_trace_id: 'turn-trace',
  }

  it('200 with the ratings and tags of scorers and the span of the agent, as sent', async () => {
    const project = server.newProject()
    await create(note(project, said))
    expect((await query(project)).result).toEqual([expect.objectContaining(said)])
    const fields = ['scorer_ratings.quality', 'scorer_ratings.a\\.b', 'scorer_tags.1', 'scorer_ratings.none']
    expect((await query(project, { fields })).result).toEqual([
      {
        'scorer_ratings.quality': 0.5,
        'scorer_ratings.a\\.b': 1,
        'scorer_tags.1': 'off topic',
        'scorer_ratings.none': null,
      },
    ])
  })

  it('200 with all of these fields for *, and otherwise without them for a row that has none', async () => {
    const project = server.newProject()
    await create(note(project))
    const [plain] = (await query(project)).result
    const [whole] = (await query(project, { fields: ['*'] })).result
    for (const name of Object.keys(said)) {
      expect(plain).not.toHaveProperty(name)
      expect(whole).toHaveProperty(name)
    }
  })

  it('200 filtered and sorted by these fields', async () => {
    const project = server.newProject()
    const [first, second] = [newId(), newId()]
    await create(note(project, { ...said, id: first }))
    await create(note(project, { id: second, scorer_tags: ['kind'], scorer_ratings: { quality: 0.125 } }))
    const ids = async (fields: Fields) =>
      (await query(project, { fields: ['id'], ...fields })).result.map((row) => row['id'])
    const above = { $gt: [{ $getField: 'scorer_ratings.quality' }, { $literal: 0.25 }] }
    const contains = { input: { $getField: 'scorer_tag_reasons.rude' }, substr: { $literal: 'NEVER' } }
    expect(await ids({ query: equals('scorer_tags', 'off topic') })).toEqual([first])
    expect(await ids({ query: equals('span_agent_name', 'helper') })).toEqual([first])
    expect(await ids({ query: equals('span_agent_name', '') })).toEqual([second])
    expect(await ids({ query: { $expr: above } })).toEqual([first])
    expect(await ids({ query: { $expr: { $contains: { ...contains, case_insensitive: true } } } })).toEqual([
      first,
    ])
    expect(await ids({ sort_by: [{ field: 'scorer_ratings.quality', direction: 'asc' }] })).toEqual([
      second,
      first,
    ])
  })

  it('200 with a count, and with every column', async () => {
    const project = await seeded()
    const count = { result: [{ 'count(*)': 3 }], total_count: 3 }
    expect(await query(project, { fields: ['count(*)'] })).toEqual(count)
    expect(await query(project, { fields: ['COUNT(*)'], query: equals('payload.n', 10) })).toEqual({
      result: [{ 'COUNT(*)': 1 }],
      total_count: 1,
    })
    expect(await query(project, { fields: ['count(*)'], limit: 0 })).toEqual({ result: [], total_count: 3 })
    expect(await query(project, { fields: ['*'] })).toMatchObject(await query(project))
  })

  it('200 without rows of other projects', async () => {
    await seeded()
    expect(await query(server.newProject())).toEqual({ result: [], total_count: 0 })
  })

  it.each([
    [{ fields: ['nope'] }],
    [{ fields: ['count(*)', 'id'] }],
    [{ fields: ['span_agent_name.x'] }],
    [{ query: equals('count(*)', 1) }],
    [{ fields: ['payload; DROP TABLE feedback'] }],
    [{ fields: ['payload..a'] }],
    [{ sort_by: [{ field: 'id; DROP TABLE feedback', direction: 'asc' }] }],
    [{ query: equals('constructor', 1) }],
    [{ limit: -1 }],
  ])('400 for %j', async (fields) => {
    const response = await server.post('/feedback/query', { project_id: server.newProject(), ...fields })
    expect(response.status).toBe(400)
  })
})

describe('POST /feedback/purge', () => {
  it('200 and only the named rows of this project are deleted, each time it is sent', async () => {
    const [project, other] = [server.newProject(), server.newProject()]
    const ids = [newId(), newId(), newId()]
    for (const id of ids) await create(note(project, { id }))
    await create(note(other, { id: ids[0] }))
    const [first, second] = ids.map((id) => equals('id', id).$expr)
    const listed = { $in: [{ $getField: 'id' }, [{ $literal: ids[0] }]] }
    for (const $expr of [first, { $or: [first, second] }, first, listed]) {
      const query = { $expr }
      const response = await server.post('/feedback/purge', { project_id: project, query })
      expect(await response.json()).toEqual({})
    }
    expect((await query(project)).result.map((row) => row['id'])).toEqual([ids[2]])
    expect((await query(other)).total_count).toBe(1)
  })

  it.each([
    equals('feedback_type', 'x'),
    { $expr: { $or: [] } },
    { $expr: { $not: [equals('id', 'x').$expr] } },
    { $expr: { $in: [{ $getField: 'feedback_type' }, [{ $literal: 'x' }]] } },
  ])('400 for %j', async (query) => {
    const response = await server.post('/feedback/purge', { project_id: server.newProject(), query })
    expect(response.status).toBe(400)
  })
})
