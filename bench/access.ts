/**
 * What checking access costs: processor time of requests to a server that accepts any key and to one with accounts, in
 * one process, alternating, without sockets. The requests are reads of one call in memory, which cost next to nothing
 * else.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openTestApp, type TestApp } from '../src/test-app.ts'
import { writeResults } from './results-file.ts'
import { median } from './statistics.ts'

/** Processor time that checking access may take of a request. */
const GOAL_MS = 0.2

const PROJECT = 'bench/access'
const CALL_ID = '01900000-0000-7000-8000-000000000000'
const RECENT_BYTES = 1024 * 1024

/** One server, and how its requests are authorized. */
interface Side {
  app: TestApp['app']
  authorization: string
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '15' },
      requests: { type: 'string', default: '2000' },
      json: { type: 'string' },
    },
  })
  const requests = Number(values.requests)
  await using stack = new AsyncDisposableStack()
  const local = await openSide(stack, 'local')
  const keys = await openSide(stack, 'keys')
  const taken: { local: number; keys: number }[] = []
  for (const side of [local, keys]) await cpuMs(side, requests)
  for (let round = 0; round < Number(values.rounds); round++)
    taken.push({ local: await cpuMs(local, requests), keys: await cpuMs(keys, requests) })
  const added = taken.map((round) => round.keys - round.local).toSorted((a, b) => a - b)
  const shown = (ms: number | undefined): string => (ms ?? Number.NaN).toFixed(4)
  process.stdout.write(
    `processor time a request, ms (median of ${taken.length} rounds of ${requests})\n` +
      `  any key   ${shown(median(taken.map((round) => round.local)))}\n` +
      `  accounts  ${shown(median(taken.map((round) => round.keys)))}\n` +
      `  added     ${shown(median(added))}, from ${shown(added.at(0))} to ${shown(added.at(-1))} (goal: below ${GOAL_MS})\n`,
  )
  writeResults(values.json, { taken })
  if (median(added) >= GOAL_MS) process.exitCode = 1
}

async function openSide(stack: AsyncDisposableStack, auth: 'local' | 'keys'): Promise<Side> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const opened = stack.use(await openTestApp(folder, { auth, recentCallsBytes: RECENT_BYTES }))
  const side = { app: opened.app, authorization: `Bearer ${auth === 'local' ? 'any' : await newKey(opened)}` }
  const at = new Date().toISOString()
  const call = {
    id: CALL_ID,
    project_id: PROJECT,
    op_name: 'op',
    trace_id: CALL_ID,
    started_at: at,
    ended_at: at,
  }
  const batch = [{ ...call, attributes: {}, inputs: {}, output: null, summary: {} }]
  await ask(side, `/v2/${PROJECT}/calls/complete`, { batch })
  return side
}

/** A key of a member of the team, who is no operator. */
async function newKey({ app, accounts }: TestApp): Promise<string> {
  const send = async (path: string, body: object, cookie = ''): Promise<Response> => {
    const headers = { 'content-type': 'application/json', 'x-heddle-page': '1', cookie }
    const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response
  }
  const cookieOf = async (link: string): Promise<string> => {
    const signedIn = await send('/v1/accounts/session', { token: link.split('#')[1]?.trim() })
    return signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const operator = await cookieOf((await accounts.sessions.firstSignIn()) ?? '')
  const made = await send('/v1/accounts/users', { name: 'member' }, operator)
  await send('/v1/accounts/teams', { name: 'bench', admin: 'member' }, operator)
  const { sign_in_url } = (await made.json()) as { sign_in_url: string }
  const key = await send('/v1/accounts/keys', { name: 'bench' }, await cookieOf(sign_in_url))
  return ((await key.json()) as { key: string }).key
}

async function ask({ app, authorization }: Side, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization }
  const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
}

/** Milliseconds of processor time that one of some requests takes. */
async function cpuMs(side: Side, requests: number): Promise<number> {
  const before = process.cpuUsage()
  for (let done = 0; done < requests; done++)
    await ask(side, '/call/read', { project_id: PROJECT, id: CALL_ID })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / requests
}

await main()
