import { setImmediate } from 'node:timers/promises'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, it } from 'vitest'
import { ALL_RIGHTS } from '../../access.ts'
import { notAllowed, unavailable } from '../../errors.ts'
import { createAuthorize } from '../../http/access.ts'
import type { CallContext } from '../../http/caller.ts'
import { isClientGone } from '../../http/client-gone.ts'
import { useTestServer } from '../../testing.ts'
import { createGraphql } from './service.ts'

const server = useTestServer({})

async function ask(query: string, variables?: Record<string, unknown>): Promise<unknown> {
  const response = await server.post('/graphql', { query, variables })
  expect(response.status).toBe(200)
  return response.json()
}

describe('createGraphql', () => {
  it('throws errors that the caller did not cause, so that clients try again', async () => {
    const failing = createGraphql(
      [
        {
          types:
            'extend type Query { broken: String, refused: String }  extend type Mutation { nothing: String }',
          access: { broken: 'any-key', refused: 'any-key' },
          resolvers: {
            Query: {
              broken: () => Promise.reject(unavailable('The disk is full')),
              refused: () => Promise.reject(notAllowed('Not yours')),
            },
          },
        },
      ],
      createAuthorize({}),
    )
    const context = contextOf()
    await expect(failing.run({ query: '{ broken }' }, context)).rejects.toThrow('The disk is full')
    expect(await failing.run({ query: '{ refused }' }, context)).toMatchObject({
      data: { refused: null },
      errors: [{ message: 'Not yours', extensions: { code: 'PERMISSION_ERROR' } }],
    })
  })
})

it('createGraphql refuses a reply of too many characters, whatever they are in', async () => {
  const text = 'x'.repeat(4 * 1024 * 1024)
  const long = createGraphql(
    [
      {
        types:
          'scalar Anything  extend type Query { text: String, more: Anything }  extend type Mutation { nothing: String }',
        access: { text: 'any-key', more: 'any-key' },
        resolvers: { Query: { text: () => text, more: async () => [{ deep: [text] }] } },
      },
    ],
    createAuthorize({}),
  )
  const times = (count: number, field: string) =>
    `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')} }`
  const refused = {
    data: null,
    errors: [{ message: expect.stringMatching(/^A reply may have \d+ characters/) }],
  }
  for (const field of ['text', 'more']) {
    expect((await long.run({ query: times(15, field) }, contextOf())).errors).toBeUndefined()
    expect(await long.run({ query: times(17, field) }, contextOf())).toEqual(refused)
  }
})

it('createGraphql does a few reads of a document at once', async () => {
  let now = 0
  let most = 0
  async function read(): Promise<string> {
    most = Math.max(most, ++now)
    await setImmediate()
    now--
    return ''
  }
  const types = 'extend type Query { text: String }  extend type Mutation { nothing: String }'
  const slow = createGraphql(
    [{ types, access: { text: 'any-key' }, resolvers: { Query: { text: read } } }],
    createAuthorize({}),
  )
  const query = `{ ${Array.from({ length: 300 }, (_, index) => `a${index}: text`).join(' ')} }`
  expect((await slow.run({ query }, contextOf())).errors).toBeUndefined()
  expect(most).toBe(4)
})

function contextOf(signal = new AbortController().signal): CallContext {
  const caller = { user: '', defaultEntity: '', keyId: '', rights: ALL_RIGHTS }
  return { caller, requestId: '', signal, header: () => undefined }
}

describe('createGraphql, documents that nest', () => {
  const node = { entityName: 'e', name: 'p' }
  const graphql = createGraphql(
    [
      {
        types: `extend type Query { project: Project }  extend type Mutation { nothing: String }
          type Project { name: String, entityName: String, self: Project, within(first: Int): Connection }
          type Connection { edges: [Edge!]! }  type Edge { node: Project }`,
        access: { project: 'any-key' },
        resolvers: {
          Query: { project: () => ({ ...node, self: node }) },
          Project: {
            // As SQLite answers, within microtasks alone.
            within: async (_: unknown, { first }: { first: number }) => ({
              edges: Array.from({ length: first }, () => ({ node: { ...node, self: node } })),
            }),
          },
        },
      },
    ],
    createAuthorize({}),
  )
  const nested = (first: number, levels: number): string =>
    levels === 0 ? 'name' : `within(first: ${first}) { edges { node { ${nested(first, levels - 1)} } } }`

  /** How often others had the event loop while something was done. */
  async function loopsDuring(work: Promise<unknown>): Promise<number> {
    let loops = 0
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await setImmediate()
      loops++
    }
    await done
    return loops
  }

  it('answers large pages and some levels', async () => {
    const page = await graphql.run({ query: `{ project { ${nested(5_000, 1)} } }` }, contextOf())
    expect(page).toMatchObject({ data: { project: { within: { edges: { length: 5_000 } } } } })
    expect(page.errors).toBeUndefined()
    const levels = await graphql.run({ query: `{ project { ${nested(2, 4)} } }` }, contextOf())
    expect(levels.errors).toBeUndefined()
  })

  it.each([
    ['that reads many records', `{ project { ${nested(12, 5)} } }`, 'may read 25000 records'],
    [
      'that names a large page again and again',
      `{ project { ${Array.from({ length: 9 }, (_, i) => `a${i}: within(first: 5000) { __typename }`)} } }`,
      'may read 25000 records',
    ],
    [
      'with many fields of each record',
      `{ project { within(first: 5000) { edges { node { ${Array.from({ length: 20 }, (_, i) => `a${i}: self { ...F }`)} } } } } }
        fragment F on Project { ${Array.from({ length: 20 }, (_, i) => `b${i}: name`)} }`,
      'may have 500000 fields',
    ],
    ['that reads deep', `{ project { ${nested(1, 6)} } }`, 'may read 16 levels deep'],
  ])('refuses one %s', async (_name, query, message) => {
    expect(await graphql.run({ query }, contextOf())).toEqual({
      data: null,
      errors: [{ message: expect.stringContaining(message) }],
    })
  })

  it('refuses a question about types whose fragments multiply', async () => {
    const times = (count: number, field: string) =>
      Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ')
    const query = `{ __schema { ${times(9, 'types { ...T }')} } } fragment T on __Type { ${times(9, 'fields { ...F }')} }
      fragment F on __Field { ${times(9, 'name')} }`
    expect(await graphql.run({ query }, contextOf())).toEqual({
      errors: [{ message: 'A document may ask for 500 fields, with those of its fragments' }],
    })
    const all = await graphql.run({ query: getIntrospectionQuery() }, contextOf())
    expect(all.errors).toBeUndefined()
  })

  it('leaves turns to others while it reads many records', async () => {
    const loops = await loopsDuring(graphql.run({ query: `{ project { ${nested(12, 4)} } }` }, contextOf()))
    expect(loops).toBeGreaterThan(3)
  })

  it('ends with its client', async () => {
    const client = new AbortController()
    const running = graphql.run({ query: `{ project { ${nested(12, 4)} } }` }, contextOf(client.signal))
    await setImmediate()
    client.abort()
    const error: unknown = await running.catch((reason: unknown) => reason)
    expect(isClientGone(error, client.signal)).toBe(true)
  })
})

describe('POST /graphql', () => {
  it('200 with the viewer and its default entity', async () => {
    expect(await ask('query DefaultEntity { viewer { username defaultEntity { name } } }')).toEqual({
      data: { viewer: { username: 'local', defaultEntity: { name: 'local' } } },
    })
  })

  it('200 with null for an unknown project, which exists once it was made or used', async () => {
    const [entityName, name] = server.newProject().split('/')
    const project =
      'query Project($name: String!, $entityName: String!) { project(name: $name, entityName: $entityName) { name } }'
    expect(await ask(project, { name, entityName })).toEqual({ data: { project: null } })
    const upsert = `mutation UpsertModel($name: String!, $id: String, $entity: String!, $description: String, $repo: String) {
      upsertModel(input: { id: $id name: $name entityName: $entity description: $description repo: $repo }) {
        model { name description } } }`
    for (const description of [null, 'what it is for', '']) {
      expect(await ask(upsert, { name, entity: entityName, description })).toEqual({
        data: { upsertModel: { model: { name, description } } },
      })
    }
    expect(await ask(project, { name, entityName })).toEqual({ data: { project: { name } } })
  })

  it('200 with errors for an operation that does not exist', async () => {
    expect(await ask('{ nonsense }')).toMatchObject({
      errors: [{ message: expect.stringContaining('nonsense') }],
    })
  })

  it.each([
    ['half a document', '{ viewer { username'],
    ['nothing', ''],
    ['two operations without a name', 'query A { viewer { username } } query B { viewer { username } }'],
    ['endless nesting', '{ a '.repeat(20_000)],
  ])('200 with errors for %s', async (_name, query) => {
    expect(await ask(query)).toMatchObject({ errors: [{ message: expect.any(String) }] })
  })

  it('200 with errors for variables of another type and names that no project can have', async () => {
    const project = 'query ($name: String!) { project(name: $name) { name } }'
    expect(await ask(project, { name: 1 })).toMatchObject({ errors: [{}] })
    expect(await ask(project, { name: "x'; DROP TABLE projects; --" })).toEqual({ data: { project: null } })
    const upsert = 'mutation ($name: String) { upsertModel(input: { name: $name }) { model { name } } }'
    for (const name of ['a/b', '', null, 'x'.repeat(129)]) {
      expect(await ask(upsert, { name })).toMatchObject({
        data: { upsertModel: null },
        errors: [{ message: expect.any(String), path: ['upsertModel'] }],
      })
    }
    expect(await ask(upsert, { name: 'mine' })).toEqual({
      data: { upsertModel: { model: { name: 'mine' } } },
    })
    const mine =
      'query { project(name: "mine", entityName: "local") { name description entity { name isTeam readOnly } } }'
    const entity = { name: 'local', isTeam: false, readOnly: false }
    expect(await ask(mine)).toEqual({ data: { project: { name: 'mine', description: null, entity } } })
  })

  it('422 without a query, 401 without a key', async () => {
    expect((await server.post('/graphql', {})).status).toBe(422)
    const anonymous = await server.request('/graphql', {
      method: 'POST',
      headers: { authorization: '' },
      body: '{}',
    })
    expect(anonymous.status).toBe(401)
  })
})

describe('POST /graphql, what this server has not', () => {
  it('200 with one error that names it, and empty lists of sweeps and reports', async () => {
    for (const [document, feature] of [
      ['mutation { upsertSweep(input: { config: "" }) { sweep { name } } }', 'Sweeps'],
      ['{ project(name: "p") { sweep(sweepName: "s") { id agents { id } } } }', 'Sweeps'],
      ['{ users(query: "u") { edges { node { id } } } }', 'Lists and changes of users by W&B clients'],
      ['{ entity(name: "e") { available members { id } } }', 'Teams of W&B clients'],
    ])
      expect(await ask(document ?? '')).toMatchObject({
        errors: [{ message: `${feature} are not supported by Heddle` }],
      })
    expect(await ask('{ nothing }')).toMatchObject({
      errors: [{ message: expect.stringContaining('nothing') }],
    })
    const input = { entityName: 'test', name: 'listed' }
    await ask('mutation ($input: UpsertModelInput!) { upsertModel(input: $input) { inserted } }', { input })
    const page = 'edges { node { id } } pageInfo { endCursor hasNextPage }'
    const none = { edges: [], pageInfo: { endCursor: null, hasNextPage: false } }
    expect(
      await ask(`{ project(name: "listed", entityName: "test") {
        totalSweeps sweeps(filters: "{}") { ${page} } allViews(viewType: "runs", first: 5) { ${page} } } }`),
    ).toEqual({ data: { project: { totalSweeps: 0, sweeps: none, allViews: none } } })
  })
})
