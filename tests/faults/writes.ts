import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { finishedCall } from '../../src/trace/test-calls.ts'
import type { Work } from './rounds.ts'
import { HEADERS, sendUntilTaken } from './send.ts'

const WRITERS = 3
const BATCH = 5

/** After each request of a client: what is to be checked at the end stays little. */
const PACE_MS = 20
const PROJECT = 'faults/calls'

/** Of each kind, that are acknowledged between two faults. */
const BETWEEN = 8

/** An erasure takes seconds, and one that failed is tried again after a minute: two such faults end within this. */
const ERASED_MS_MAX = 300_000

/** Clients that erase one project after the other: erasures do not pile up while a test goes on. */
const ERASERS = 4
const LOOK_MS = 1_000

const Calls = z.array(z.object({ id: z.string() }))

/** What clients were told is stored. */
interface Acknowledged {
  calls: string[]
  /** Digests and bytes. */
  files: Map<string, string>
  /** Projects and the name of their rule. */
  rules: Map<string, string>
  /** Ids of the receipts of erasures. */
  erasures: string[]
}

/** Clients that write calls, files and rules of redaction, and erase projects. */
export interface Writers {
  works: readonly Work[]
  /** Resolves once they have stopped. */
  stopped: Promise<void>
  /** That all that was acknowledged is there, once. */
  check(): Promise<void>
}

/** They send again what was refused or had no answer. */
export function startWriters(url: string, signal: AbortSignal): Writers {
  const acknowledged: Acknowledged = { calls: [], files: new Map(), rules: new Map(), erasures: [] }
  const send = (method: string, path: string, body?: unknown): Promise<unknown> =>
    sendUntilTaken(url, method, path, body)

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      await delay(PACE_MS)
    }
  }

  async function writeCalls(): Promise<void> {
    const batch = Array.from({ length: BATCH }, () => finishedCall())
    await send('POST', `/v2/${PROJECT}/calls/complete`, { batch })
    acknowledged.calls.push(...batch.map(({ id }) => id))
  }

  async function writeFile(): Promise<void> {
    const bytes = randomUUID().repeat(20)
    const form = new FormData()
    form.set('project_id', PROJECT)
    form.set('file', new File([bytes], 'file'))
    const { digest } = z.object({ digest: z.string() }).parse(await send('POST', '/file/create', form))
    acknowledged.files.set(digest, bytes)
  }

  async function writeRule(): Promise<void> {
    const [project, name] = [`faults/${randomUUID()}`, randomUUID()]
    const rules = [{ name, match: 'pattern', pattern: 'x+', action: 'mask' }]
    await send('PUT', `/v2/${project}/redaction`, { rules })
    acknowledged.rules.set(project, name)
  }

  async function eraseProject(): Promise<void> {
    const project = `faults/${randomUUID()}`
    await send('POST', `/v2/${project}/calls/complete`, { batch: [finishedCall()] })
    const erased = await send('DELETE', `/v2/${project}`)
    // Where an answer was lost, the second request finds the project gone.
    if (erased === undefined) return
    const { id } = z.object({ id: z.string() }).parse(erased)
    acknowledged.erasures.push(id)
    while (!signal.aborted && (await stateOf(url, id)) !== 'done') await delay(LOOK_MS)
  }

  const writers = Array.from({ length: WRITERS }, () => repeat(writeCalls))
  const erasers = Array.from({ length: ERASERS }, () => repeat(eraseProject))
  const all = Promise.all([...writers, ...erasers, repeat(writeFile), repeat(writeRule)])
  return {
    works: [
      { name: 'calls', done: () => acknowledged.calls.length / BATCH, between: BETWEEN },
      { name: 'files', done: () => acknowledged.files.size, between: BETWEEN },
      { name: 'rules', done: () => acknowledged.rules.size, between: BETWEEN },
    ],
    stopped: all.then(() => undefined),
    check: () => check(url, acknowledged),
  }
}

async function check(url: string, { calls, files, rules, erasures }: Acknowledged): Promise<void> {
  const ask = async (path: string, body: object): Promise<string> => {
    for (;;) {
      const reply = await fetch(url + path, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) })
      const text = await reply.text()
      // One of the servers may still wait for a store that another one has found again.
      if (reply.status !== 503) return text
      await delay(100)
    }
  }
  const list = await ask('/calls/stream_query', { project_id: PROJECT, columns: ['id'] })
  const found = Calls.parse(
    list
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
  const ids = new Set(found.map(({ id }) => id))
  expect(ids.size).toBe(found.length)
  expect(calls.filter((id) => !ids.has(id))).toEqual([])
  for (const [digest, bytes] of files)
    expect(await ask('/file/content', { project_id: PROJECT, digest })).toBe(bytes)
  for (const [project, name] of rules) {
    const reply = await sendUntilTaken(url, 'GET', `/v2/${project}/redaction`)
    expect(reply).toMatchObject({ rules: [{ name }] })
  }
  const states = (): Promise<unknown[]> => Promise.all(erasures.map((id) => stateOf(url, id)))
  await expect.poll(states, { timeout: ERASED_MS_MAX }).toEqual(erasures.map(() => 'done'))
}

/** What the receipt of an erasure says. */
async function stateOf(url: string, id: string): Promise<string> {
  const receipt = await sendUntilTaken(url, 'GET', `/v1/accounts/erasures/${id}`)
  return z.object({ state: z.string() }).parse(receipt).state
}
