import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'

const server = useTestServer()

async function ask(query: string, variables?: Record<string, unknown>): Promise<unknown> {
  const response = await server.post('/graphql', { query, variables })
  expect(response.status).toBe(200)
  return response.json()
}

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
    expect(await ask(upsert, { name, entity: entityName, description: null })).toEqual({
      data: { upsertModel: { model: { name, description: null } } },
    })
    expect(await ask(project, { name, entityName })).toEqual({ data: { project: { name } } })
  })

  it('200 with errors for an operation that does not exist', async () => {
    expect(await ask('{ nonsense }')).toMatchObject({
      errors: [{ message: expect.stringContaining('nonsense') }],
    })
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
