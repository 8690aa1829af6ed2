import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { newId } from '../../ids.ts'
import type { Provider } from '../../settings/providers.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { openTestApp, TEST_BASE_MODEL } from '../../test-app.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { type FakeProvider, openFakeProvider } from '../playground/fake-provider.ts'

/** The last day of a month but one. */
let time = new Date('2030-01-30T12:00:00Z')

const providers = new Map<string, Provider>()
const server = useTestServer({ auth: 'keys', compute: openFakeCompute, providers, now: () => time })
const { operator, newUser } = createTestAccounts(server)

let provider: FakeProvider
beforeAll(async () => {
  provider = await openFakeProvider()
  providers.set('fake', { baseUrl: provider.baseUrl, apiKey: undefined })
})
afterAll(() => provider[Symbol.asyncDispose]())

interface Team {
  team: string
  admin: KeyClient
}

async function newTeam(): Promise<Team> {
  const name = newId().slice(-12)
  const admin = await newUser(`admin-${name}`)
  await replyOf(
    await (await operator()).post('/v1/accounts/teams', { name: `team-${name}`, admin: `admin-${name}` }),
  )
  return { team: `team-${name}`, admin }
}

const setBudgets = ({ team, admin }: Team, data: Fields[], query = '') =>
  admin.put(`/v1/accounts/teams/${team}/budgets${query}`, { data })

async function budgetsOf({ team, admin }: Team) {
  return replyOf<{ month: string; data: Fields[]; version: string }>(
    await admin.get(`/v1/accounts/teams/${team}/budgets`),
  )
}

/** A completion of seven tokens. */
const chat = ({ team, admin }: Team, project = 'p') =>
  admin.send('POST', '/v1/chat/completions', {
    body: { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'hi' }] },
    headers: { 'openai-project': `${team}/${project}` },
  })

/** A completion of a provider, of 1,100 tokens. */
const askProvider = ({ team, admin }: Team) =>
  admin.post('/completions/create', {
    project_id: `${team}/p`,
    inputs: { model: 'fake/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
    track_llm_call: false,
  })

const tokens = (amount: number, fields: Fields = {}) => ({ project: 'p', unit: 'tokens', amount, ...fields })

describe('PUT and GET /v1/accounts/teams/{entity}/budgets', () => {
  it('409 for another version than the stored one, which stays', async () => {
    const own = await newTeam()
    const { version } = await budgetsOf(own)
    expect((await setBudgets(own, [tokens(20)], `?if_version=${version}`)).status).toBe(200)
    expect((await setBudgets(own, [], `?if_version=${version}`)).status).toBe(409)
    const now = await budgetsOf(own)
    expect(now.data).toHaveLength(1)
    expect((await setBudgets(own, [], `?if_version=${now.version}`)).status).toBe(200)
  })

  it('200 and warns at a share, and 402 until the next month once it is spent', async () => {
    time = new Date('2030-01-30T12:00:00Z')
    const own = await newTeam()
    expect(await replyOf(await setBudgets(own, [tokens(20, { warn_at: 0.5 })]))).toMatchObject({
      month: '2030-01',
      resets_at: '2030-02-01T00:00:00.000Z',
      data: [{ project: 'p', key: null, spent: 0, remaining: 20, state: 'within', message: null }],
    })
    const first = await chat(own)
    expect(first.headers.get('x-heddle-budget-remaining')).toBe('13 tokens')
    expect(first.headers.get('x-heddle-budget-warning')).toBeNull()
    const warned = await chat(own)
    expect(warned.status).toBe(200)
    const warning = `The budget of ${own.team}/p is nearly spent: 14 of 20 tokens in 2030-01`
    expect(warned.headers.get('x-heddle-budget-warning')).toBe(warning)
    expect((await budgetsOf(own)).data).toMatchObject([{ state: 'warning', message: warning, remaining: 6 }])
    await chat(own)
    const stopped = await chat(own)
    expect([stopped.status, stopped.headers.get('retry-after')]).toEqual([402, String(36 * 3600)])
    expect(stopped.headers.get('x-heddle-budget-remaining')).toBe('0 tokens')
    expect(await stopped.json()).toMatchObject({
      error: {
        message: `The budget of ${own.team}/p is spent: 21 of 20 tokens in 2030-01. It begins anew on 2030-02-01, and admins of ${own.team} may raise it`,
      },
    })
    expect((await chat(own, 'other')).status).toBe(200)
    await eventually(async () => {
      const { data } = await replyOf<{ data: Fields[] }>(
        await own.admin.get(`/v1/accounts/audit?entity=${own.team}`),
      )
      const actions = data.map(({ action }) => action)
      expect(actions.slice(0, 3).toSorted()).toEqual(['budget.spent', 'budget.warning', 'budgets.set'])
    })
    time = new Date('2030-02-01T00:00:00Z')
    expect(await budgetsOf(own)).toMatchObject({ month: '2030-02', data: [{ spent: 0, state: 'within' }] })
    expect((await chat(own)).headers.get('x-heddle-budget-remaining')).toBe('13 tokens')
  })

  it('200 with what was spent before it was set, and goes on at once when it is raised', async () => {
    time = new Date()
    const own = await newTeam()
    for (let request = 0; request < 3; request++) expect((await chat(own)).status).toBe(200)
    expect(await replyOf(await setBudgets(own, [tokens(21)]))).toMatchObject({ data: [{ spent: 21 }] })
    expect((await chat(own)).status).toBe(402)
    expect(await replyOf(await setBudgets(own, [tokens(30)]))).toMatchObject({ data: [{ spent: 21 }] })
    expect((await chat(own)).status).toBe(200)
    expect((await budgetsOf(own)).data).toMatchObject([{ spent: 28, remaining: 2 }])
    expect(await replyOf(await setBudgets(own, []))).toMatchObject({ data: [] })
    expect((await chat(own)).headers.get('x-heddle-budget-remaining')).toBeNull()
  })

  it('402 after requests at once have overrun it by no more than they used themselves', async () => {
    time = new Date()
    const own = await newTeam()
    await setBudgets(own, [tokens(7)])
    const replies = await Promise.all(Array.from({ length: 5 }, () => chat(own)))
    const done = replies.filter(({ status }) => status === 200).length
    expect(done + replies.filter(({ status }) => status === 402).length).toBe(5)
    expect((await budgetsOf(own)).data).toMatchObject([{ spent: 7 * done }])
    expect((await chat(own)).status).toBe(402)
  })

  it('200 in money, by the prices of models, those of providers in the playground included', async () => {
    time = new Date()
    const own = await newTeam()
    const price = { prompt_token_cost: 0.01, completion_token_cost: 0.01 }
    await replyOf(
      await own.admin.post('/cost/create', {
        project_id: `${own.team}/p`,
        costs: { [TEST_BASE_MODEL]: price },
      }),
    )
    await setBudgets(own, [{ project: 'p', unit: 'usd', amount: 0.0703 }])
    const asked = await askProvider(own)
    expect(asked.status).toBe(200)
    await eventually(async () =>
      expect((await budgetsOf(own)).data[0]?.['spent']).toBeCloseTo(1000 * 1.5e-7 + 100 * 6e-7, 9),
    )
    expect((await chat(own)).status).toBe(200)
    await eventually(async () => expect((await budgetsOf(own)).data[0]?.['spent']).toBeCloseTo(0.07021, 6))
    expect((await chat(own)).status).toBe(200)
    expect((await chat(own)).status).toBe(402)
    const refused = await replyOf<{ response: { error: string } }>(await askProvider(own))
    expect(refused.response.error).toMatch(/^The budget of .* is spent/)
    const usage = await replyOf<{ data: Fields[] }>(
      await own.admin.get(`/v1/usage?group_by=model&entity=${own.team}`),
    )
    expect(usage.data).toMatchObject([
      { model: 'fake/gpt-4o-mini', requests: 1, prompt_tokens: 1000, completion_tokens: 100 },
      { model: TEST_BASE_MODEL, requests: 2 },
    ])
  })

  it('200 for a stream of a provider, which counts as well', async () => {
    time = new Date()
    const own = await newTeam()
    await setBudgets(own, [tokens(2000)])
    const stream = await own.admin.post('/completions/create_stream', {
      project_id: `${own.team}/p`,
      inputs: { model: 'fake/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
      track_llm_call: false,
    })
    await stream.text()
    expect((await budgetsOf(own)).data).toMatchObject([{ spent: 1100, remaining: 900 }])
  })

  it('402 for a key, wherever it asks, and for no other key', async () => {
    time = new Date()
    const own = await newTeam()
    const name = `${own.team}-ci`
    await replyOf(await own.admin.post(`/v1/accounts/teams/${own.team}/service-accounts`, { name }))
    const made = await replyOf(await own.admin.post('/v1/accounts/keys', { name: 'one', user: name }))
    await setBudgets(own, [{ key: made['id'], unit: 'tokens', amount: 7 }])
    const keyed = { ...own, admin: createTestAccounts(server).as(String(made['key'])) }
    expect((await chat(keyed)).status).toBe(200)
    expect((await chat(keyed, 'elsewhere')).status).toBe(402)
    expect((await chat(own)).status).toBe(200)
  })

  it('402 for all projects of a team once its own budget is spent, which stays when its admins set others', async () => {
    time = new Date()
    const own = await newTeam()
    await replyOf(await setBudgets({ ...own, admin: await operator() }, [{ unit: 'tokens', amount: 10 }]))
    await replyOf(await setBudgets(own, [tokens(1000)]))
    expect((await budgetsOf(own)).data).toHaveLength(2)
    expect((await chat(own, 'one')).status).toBe(200)
    expect((await chat(own, 'two')).status).toBe(200)
    const refused = await chat(own, 'three')
    expect(refused.status).toBe(402)
    expect(await refused.text()).toContain(`The budget of ${own.team} is spent`)
  })

  it('402 for a team also where a request names no project, if it is the team that such requests are about', async () => {
    time = new Date()
    const own = await newTeam()
    await replyOf(await setBudgets({ ...own, admin: await operator() }, [{ unit: 'tokens', amount: 7 }]))
    await replyOf(await own.admin.put('/v1/accounts/me', { default_entity: own.team }))
    const body = { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'hi' }] }
    expect((await own.admin.post('/v1/chat/completions', body)).status).toBe(200)
    expect((await own.admin.post('/v1/chat/completions', body)).status).toBe(402)
    expect((await budgetsOf(own)).data).toMatchObject([{ state: 'spent' }])
  })

  it('400 for one of both, 403 for the whole team by its admins and for others, 404 for a key of another team', async () => {
    const [own, other] = [await newTeam(), await newTeam()]
    const made = await replyOf(await other.admin.post('/v1/accounts/keys', { name: 'one' }))
    const statusOf = async (budget: Fields) => (await setBudgets(own, [budget])).status
    expect(await statusOf({ unit: 'tokens', amount: 1 })).toBe(403)
    expect(await statusOf({ ...tokens(1), key: made['id'] })).toBe(400)
    expect(await statusOf({ key: made['id'], unit: 'tokens', amount: 1 })).toBe(404)
    expect(await statusOf(tokens(0))).toBe(422)
    expect((await setBudgets({ ...own, admin: other.admin }, [])).status).toBe(403)
    expect((await budgetsOf(own)).data).toEqual([])
  })
})

describe('budgets of a server that is started again', () => {
  it('go on with what was spent', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-budgets-'))
    const options = { auth: 'keys', compute: openFakeCompute } as const
    try {
      let own: Team | undefined
      for (const spent of [0, 7]) {
        await using app = await openTestApp(folder, options)
        const request = async (path: string, init?: RequestInit) => app.app.request(path, init)
        const accounts = createTestAccounts({ ...server, request, accounts: app.accounts })
        if (own === undefined) {
          const admin = await accounts.operator()
          await replyOf(await admin.post('/v1/accounts/teams', { name: 'weavers' }))
          own = { team: 'weavers', admin }
          await replyOf(await setBudgets(own, [tokens(14)]))
        } else own = { ...own, admin: accounts.as(own.admin.key) }
        expect((await budgetsOf(own)).data).toMatchObject([{ spent, remaining: 14 - spent }])
        expect((await chat(own)).status).toBe(200)
        if (spent > 0) expect((await chat(own)).status).toBe(402)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
