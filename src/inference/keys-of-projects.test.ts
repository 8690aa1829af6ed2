import { describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../accounts/test-accounts.ts'
import { newId } from '../ids.ts'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { type Fields, replyOf, useTestServer } from '../testing.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)

const MESSAGES = [{ role: 'user', content: 'hi' }]

/** A person, whose entity has the same name. */
async function newPerson(): Promise<KeyClient & { entity: string }> {
  const entity = `ada-${newId().slice(-12)}`
  return { ...(await accounts.newUser(entity)), entity }
}

async function keyOf(client: KeyClient, project_id: string): Promise<KeyClient> {
  const made = await replyOf(await client.post('/v1/accounts/keys', { name: 'narrow', project_id }))
  return accounts.as(String(made['key']))
}

/** What the engine got: the simulated one answers with it. */
async function asked(client: KeyClient, fields: Fields = {}): Promise<Fields> {
  const body = { model: TEST_BASE_MODEL, messages: MESSAGES, ...fields }
  const reply = await replyOf<{ choices: { message: { content: string } }[] }>(
    await client.post('/v1/chat/completions', body),
  )
  return JSON.parse(reply.choices[0]?.message.content.replace(/^[^{]*/, '') ?? '') as Fields
}

describe('POST /v1/chat/completions with keys', () => {
  it('200 for a bare name that other projects have too, with the key of one of them', async () => {
    const ada = await newPerson()
    const name = 'agent'
    for (const project of ['a', 'b', 'c'])
      await replyOf(
        await ada.post('/v1/preview/models', {
          entity: ada.entity,
          project,
          name,
          base_model: TEST_BASE_MODEL,
        }),
      )
    const refused = await ada.post('/v1/chat/completions', { model: name, messages: MESSAGES })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Several projects')])
    const narrow = await keyOf(ada, `${ada.entity}/c`)
    await asked(narrow, { model: name })
  })

  it('200 and counts for the only project of a key, also without a header that names it', async () => {
    const ada = await newPerson()
    await asked(await keyOf(ada, `${ada.entity}/one`))
    const { data } = await replyOf<{ data: Fields[] }>(
      await ada.get(`/v1/usage?group_by=entity,project&entity=${ada.entity}`),
    )
    expect(data).toMatchObject([{ entity: ada.entity, project: 'one', requests: 1 }])
  })

  it('200 and counts for each of two projects that have the same name', async () => {
    const [ada, bob] = [await newPerson(), await newPerson()]
    await replyOf(await bob.put(`/v1/accounts/teams/${bob.entity}/members/${ada.entity}`, { role: 'viewer' }))
    for (const person of [ada, bob]) await asked(await keyOf(person, `${person.entity}/app`))
    const rows = [ada, bob].map(({ entity }) => ({ entity, project: 'app', requests: 1 }))
    for (const query of ['?group_by=project', '']) {
      const { data } = await replyOf<{ data: Fields[] }>(await ada.get(`/v1/usage${query}`))
      expect(data).toHaveLength(2)
      expect(data).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row))))
    }
  })

  it('200 and no entity shares cached prompts with another, whatever salt it asks for', async () => {
    const [ada, eve] = [await newPerson(), await newPerson()]
    const salts = async (client: KeyClient) =>
      Promise.all(
        [{}, { cache_salt: 'x' }].map(async (fields) => (await asked(client, fields))['cache_salt']),
      )
    const ofAda = await salts(ada)
    expect(new Set([...ofAda, ...(await salts(eve)), 'x', undefined]).size).toBe(6)
    expect(await salts(ada)).toEqual(ofAda)
    expect(ofAda.every((salt) => /^[\w-]{1,128}$/.test(String(salt)))).toBe(true)
    expect((await asked(ada, { cache_salt: '' }))['cache_salt']).toBe('')
  })
})
