import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { VERSION } from '../../version.ts'

const server = useTestServer()
const withKeys = useTestServer({ auth: 'keys' })

describe('GET /server_info', () => {
  it.each(['/server_info', '/traces/server_info'])('200 at %s without a key', async (path) => {
    const response = await server.request(path, { headers: { authorization: '' } })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ min_required_weave_python_version: '0.0.0' })
  })
})

describe('GET /version', () => {
  it('200 with the version', async () => {
    expect(await (await server.request('/version')).json()).toEqual({ version: VERSION })
  })
})

describe('GET /', () => {
  it("200 with a page on how to connect clients; 421 for a host name that is not this server's", async () => {
    const response = await server.request('/', { headers: { host: '127.0.0.1:6060' } })
    const page = await response.text()
    expect(page).toContain('export WANDB_BASE_URL=http://127.0.0.1:6060')
    expect(page).toMatch(/WANDB_API_KEY=local-0{40}$.*href="\/metrics"/ms)
    const proxied = { host: '127.0.0.1:6060', 'x-forwarded-proto': 'https' }
    expect(await (await server.request('/', { headers: proxied })).text()).toContain(
      '=https://127.0.0.1:6060',
    )
    const hostile = await server.request('/', { headers: { host: '<script>"' } })
    expect(hostile.status).toBe(421)
  })

  it('200 with a page that shows no key which the server refuses, and no link to what needs one', async () => {
    const page = await (await withKeys.request('/')).text()
    expect(page).toContain('export WANDB_API_KEY=YOUR_KEY\n')
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)
    expect(links).toEqual(['/docs', '/openapi.json', '/health', '/version'])
    for (const path of links) {
      const linked = await withKeys.request(path, { headers: { authorization: '' } })
      expect([path, linked.status]).toEqual([path, 200])
    }
  })
})

describe('GET /geolocate', () => {
  it('200 with nothing, for callers with a key', async () => {
    expect(await (await server.request('/geolocate')).json()).toEqual({})
    expect((await server.request('/geolocate', { headers: { authorization: '' } })).status).toBe(401)
  })
})

describe('POST /service/projects_info', () => {
  it('401 without a key', async () => {
    const response = await server.request('/service/projects_info', {
      method: 'POST',
      headers: { authorization: '' },
      body: '{',
    })
    expect(response.status).toBe(401)
  })

  it('422 with a detail array for a body of another shape', async () => {
    const response = await server.post('/service/projects_info', { project_ids: 'a/b' })
    expect(response.status).toBe(422)
    expect(await response.json()).toEqual({
      detail: [
        {
          type: 'list_type',
          loc: ['body', 'project_ids'],
          msg: 'Input should be a valid list',
          input: 'a/b',
        },
      ],
    })
  })

  it('422 for a body that is not JSON', async () => {
    const response = await server.request('/service/projects_info', { method: 'POST', body: '{' })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ detail: [{ type: 'json_invalid' }] })
  })
})
