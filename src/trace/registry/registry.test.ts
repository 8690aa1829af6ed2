import { describe, expect, it } from 'vitest'
import { replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

async function publish(project_id: string, val: object): Promise<string> {
  const obj = { project_id, object_id: 'prompt', val }
  return (await replyOf<{ digest: string }>(await server.post('/obj/create', { obj }))).digest
}

describe('POST /link_to_registry', () => {
  it('200 with the index of the version that names the ref; the same link again is the same version', async () => {
    const project = server.newProject()
    const [entity_name = '', project_name = ''] = server.newProject().split('/')
    const target = { portfolio_name: 'prompts', entity_name, project_name }
    const digests = [await publish(project, { text: 'one' }), await publish(project, { text: 'two' })]
    const link = async (digest: string, aliases: string[] = []) =>
      replyOf(
        await server.post('/link_to_registry', {
          ref: `weave:///${project}/object/prompt:${digest}`,
          target,
          aliases,
        }),
      )
    expect(await link(digests[0] ?? '')).toEqual({ version_index: 0 })
    expect(await link(digests[1] ?? '', ['production'])).toEqual({ version_index: 1 })
    expect(await link(digests[1] ?? '')).toEqual({ version_index: 1 })
    const read = await server.post('/obj/read', {
      project_id: `${entity_name}/${project_name}`,
      object_id: 'prompts',
      digest: 'production',
    })
    expect(await replyOf(read)).toMatchObject({
      obj: { val: { _type: 'RegistryLink', ref: `weave:///${project}/object/prompt:${digests[1]}` } },
    })
  })

  it('404 for a version that does not exist, 400 for a ref to a call', async () => {
    const project = server.newProject()
    const target = { portfolio_name: 'prompts', entity_name: 'test', project_name: 'registry' }
    const link = async (ref: string) => (await server.post('/link_to_registry', { ref, target })).status
    expect(await link(`weave:///${project}/object/none:v0`)).toBe(404)
    expect(await link(`weave:///${project}/call/some-id`)).toBe(400)
    expect(await link('no ref')).toBe(400)
  })
})
