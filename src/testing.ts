import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { refusalsOf } from './http/refusals.ts'
import type { Route } from './http/route.ts'
import { newId } from './ids.ts'
import { type KeepShape, parseKeeping } from './json/lossless-json.ts'
import type { StoreOptions, Stores } from './open-stores.ts'
import { newTestDatabase } from './stores/control-db/test-database.ts'
import { openTestApp, type TestApp, type TestAppOptions } from './test-app.ts'
import { keepShapeOf } from './wire/body-shape.ts'

const KEY = 'Bearer test-key'

/** An object of JSON. */
export interface Fields {
  [field: string]: unknown
}

export interface TestServer {
  /** Sends a JSON body; the reply is checked against the route's own response schema. */
  post(path: string, body: unknown): Promise<Response>
  request(path: string, init?: RequestInit): Promise<Response>
  stores: Stores
  accounts: TestApp['accounts']
  upkeep: TestApp['upkeep']
  metricFamilies: TestApp['metricFamilies']
  /** The data folder. */
  folder: string
  /** A project id that no other test uses. */
  newProject(): string
}

export interface TestServerOptions extends TestAppOptions {
  /** Fills the data folder before it is opened. */
  prepare?: (folder: string) => Promise<void>
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Servers that tests/cluster/start-servers.ts has started; absent where a run has none. */
    servers: TestServers
    /** A folder for data folders of tests, which is removed after the run. */
    testFolder: string
    /** Embedded databases that have their tables; absent where a run has none. */
    migratedFolder: string
  }
}

/** Servers that hold the stores of tests. */
export interface TestServers {
  clickhouse: {
    /** An address without a database. */
    url: string
    cluster?: string
  }
  /** An address with a database in which all may create others. */
  postgres: { url: string }
  s3: { endpoint: string; bucket: string }
}

/** Stores on the servers of this run that no other test uses; none where it has no servers. */
export async function storesOnServers(): Promise<StoreOptions> {
  const servers: TestServers | undefined = inject('servers')
  if (servers === undefined) return {}
  const own = newId().replaceAll('-', '')
  const { clickhouse, s3 } = servers
  return {
    clickhouse: { ...clickhouse, url: `${clickhouse.url}/test_${own}` },
    postgres: await newTestDatabase(),
    s3: { ...s3, prefix: `${own}/`, clientEndpoint: undefined, region: undefined },
  }
}

/** An app and its data folder. */
interface Opened {
  app: TestApp
  folder: string
}

/** The server of the test files of this process that ask for no other; it ends with the process. */
let shared: Promise<Opened> | undefined

/**
 * The whole app over real stores: embedded ones in a temporary folder, or on the servers of this run. Without options
 * one server serves all test files of a process, one after the other, whose projects differ. A file that looks at more
 * than its own projects gives options, if only `{}`, and has a server of its own.
 */
export function useTestServer(options?: TestServerOptions): TestServer {
  let opened: Opened | undefined

  beforeAll(async () => {
    if (options === undefined)
      shared ??= openApp({}).catch((error: unknown) => {
        shared = undefined
        throw error
      })
    opened = await (options === undefined ? shared : openApp(options))
  })

  afterAll(async () => {
    if (options === undefined || opened === undefined) return
    await opened.app[Symbol.asyncDispose]()
    await rm(opened.folder, { recursive: true, force: true })
  })

  function started(): Opened {
    if (opened === undefined) throw new Error('The test server has not started')
    return opened
  }

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const { app, routes } = started().app
    const headers = { authorization: KEY, ...(init.headers as Record<string, string> | undefined) }
    const response = await app.request(path, { ...init, headers })
    await checkReply(routes, init.method ?? 'GET', path, response)
    return response
  }

  return {
    request,
    post: (path, body) => request(path, { method: 'POST', body: JSON.stringify(body) }),
    get stores() {
      return started().app.stores
    },
    get accounts() {
      return started().app.accounts
    },
    get upkeep() {
      return started().app.upkeep
    },
    metricFamilies: () => started().app.metricFamilies(),
    get folder() {
      return started().folder
    },
    newProject: () => `test/${newId()}`,
  }
}

async function openApp({ prepare, ...options }: TestServerOptions): Promise<Opened> {
  const folder = await mkdtemp(join(inject('testFolder'), 'server-'))
  await copyDatabases(folder)
  await prepare?.(folder)
  return { app: await openTestApp(folder, { stores: await storesOnServers(), ...options }), folder }
}

/**
 * Embedded databases with their tables, where this run has made them: to make them anew takes half of a server's start.
 */
async function copyDatabases(folder: string): Promise<void> {
  const migrated: string | undefined = inject('migratedFolder')
  if (migrated === undefined) return
  for (const name of ['trace-db', 'control.sqlite'])
    await cp(join(migrated, name), join(folder, name), { recursive: true, verbatimSymlinks: true })
}

/** The body of a successful reply. */
export async function replyOf<Reply = Fields>(response: Response): Promise<Reply> {
  return JSON.parse(await textOf(response)) as Reply
}

/** The documents of a successful reply that has one a line. */
export async function documentsOf<Document>(response: Response): Promise<Document[]> {
  return linesOf(await textOf(response)).map((line) => JSON.parse(line) as Document)
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

/**
 * A foreign host name, which is refused before any route; a disconnected client; and a bug. Tests cause them on
 * purpose, and no description declares them.
 */
const UNDECLARED = new Set([421, 499, 500])

/**
 * A reply must be exactly what its route declares: an undeclared status, or a field the schema does not know, fails the
 * test.
 */
async function checkReply(routes: Route[], method: string, path: string, response: Response): Promise<void> {
  const pathname = path.split('?')[0] ?? path
  const declared = routes.find(
    (candidate) => candidate.method === method && matches(candidate.path, pathname),
  )
  if (declared === undefined) return
  if (response.status >= 400) {
    if (!UNDECLARED.has(response.status)) expect(refusalsOf(declared)).toContain(response.status)
    return
  }
  if (declared.reply === 'raw') return
  const text = await response.clone().text()
  const documents = declared.reply === 'jsonl' ? linesOf(text) : [text]
  const shape = shapeOfReply(declared)
  for (const document of documents) {
    const value = parseKeeping(document, shape)
    expect(declared.response.parse(value)).toEqual(value)
  }
}

const shapes = new WeakMap<Route, KeepShape | undefined>()

/** What a route's replies have as text, which takes milliseconds to find out. */
function shapeOfReply(route: Route): KeepShape | undefined {
  if (!shapes.has(route)) shapes.set(route, keepShapeOf(route.response))
  return shapes.get(route)
}

function matches(paths: string | readonly string[], pathname: string): boolean {
  const literals = typeof paths === 'string' ? [paths] : paths
  return literals.some((literal) =>
    new RegExp(`^(/traces)?${literal.replace(/\{\w+\+\}/, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(
      pathname,
    ),
  )
}
