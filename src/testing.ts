import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { routesOf } from './app.ts'
import { authenticateLocally } from './http/auth.ts'
import { buildApp } from './http/build-app.ts'
import type { Route } from './http/route.ts'
import { newId } from './ids.ts'
import type { InferenceOptions } from './inference/create.ts'
import { keepShapeOf } from './json-text-wire.ts'
import { createLog } from './log.ts'
import { parseKeeping } from './lossless-json.ts'
import type { Providers } from './providers.ts'
import { createServices } from './services.ts'
import type { Compute } from './stores/compute/port.ts'
import { openStores, type Stores } from './stores/open-stores.ts'
import { VERSION } from './version.ts'

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
  /** A project id nobody else uses. */
  newProject(): string
}

export interface TestServerOptions {
  /** What computes; nothing does where absent, as on a machine without the engine. */
  compute?: (folder: string) => Compute
  inference?: Partial<InferenceOptions>
  /** Services outside; none where absent. */
  providers?: Providers
  /** Runs scorers that are code; they are refused where absent. */
  scorerPython?: string
}

const UNLIMITED = { requestsMax: Number.POSITIVE_INFINITY, tokensPerMinute: Number.POSITIVE_INFINITY }
const NO_LIMITS: InferenceOptions = {
  keyLimits: UNLIMITED,
  projectLimits: UNLIMITED,
  projectHeaders: ['openai-project'],
  traceCompletions: false,
}

/** The base model of servers under test. */
export const TEST_BASE_MODEL = 'test/base'

/** The whole app over real embedded stores in a temporary folder, for one test file. */
export function useTestServer(options: TestServerOptions = {}): TestServer {
  const state: {
    app?: ReturnType<typeof buildApp>
    routes: Route[]
    stores?: Stores
    folder?: string
    background?: AsyncDisposableStack
  } = {
    routes: [],
  }

  beforeAll(async () => {
    const log = createLog({ logLevel: 'error', logFormat: 'json' })
    state.folder = await mkdtemp(join(tmpdir(), 'heddle-test-'))
    state.stores = await openStores(state.folder)
    const background = new AsyncDisposableStack()
    state.background = background
    const compute = background.use((options.compute ?? noCompute)(state.folder))
    const engine = { compute, baseModel: TEST_BASE_MODEL, folder: join(state.folder, 'engine') }
    const services = createServices(state.stores, {
      version: VERSION,
      log,
      engine,
      inference: { ...NO_LIMITS, ...options.inference },
      providers: options.providers ?? new Map(),
      scorerPython: options.scorerPython,
      dataFolder: state.folder,
    })
    state.routes = routesOf(services)
    background.use(await services.startTraining())
    background.use(services.startInference())
    background.use(await services.startEvaluation())
    state.app = buildApp(state.routes, {
      authenticate: authenticateLocally,
      log,
      version: VERSION,
      observe: services.metrics.observe,
    })
  })

  afterAll(async () => {
    await state.background?.disposeAsync()
    await state.stores?.[Symbol.asyncDispose]()
    if (state.folder !== undefined) await rm(state.folder, { recursive: true, force: true })
  })

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    if (state.app === undefined) throw new Error('The test server has not started')
    const headers = { authorization: KEY, ...(init.headers as Record<string, string> | undefined) }
    const response = await state.app.request(path, { ...init, headers })
    if (response.status === 200) await checkReply(state.routes, init.method ?? 'GET', path, response)
    return response
  }

  return {
    request,
    post: (path, body) => request(path, { method: 'POST', body: JSON.stringify(body) }),
    get stores() {
      if (state.stores === undefined) throw new Error('The test server has not started')
      return state.stores
    },
    newProject: () => `test/${newId()}`,
  }
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

function noCompute(): Compute {
  const unavailable = 'The engine is not installed; "npm run setup" installs it'
  const refuse = (): never => {
    throw new Error(unavailable)
  }
  return {
    unavailable,
    priorityScheduling: false,
    loraRankMax: 16,
    trainer: refuse,
    inference: refuse,
    statuses: () => [],
    memory: () => ({ budget_bytes: 0, used_bytes: 0 }),
    async [Symbol.asyncDispose]() {},
  }
}

/** A reply must be exactly what its route declares: a field the schema does not know fails the test. */
async function checkReply(routes: Route[], method: string, path: string, response: Response): Promise<void> {
  const pathname = path.split('?')[0] ?? path
  const declared = routes.find(
    (candidate) => candidate.method === method && matches(candidate.path, pathname),
  )
  if (declared === undefined || declared.reply === 'raw') return
  const text = await response.clone().text()
  const documents = declared.reply === 'jsonl' ? linesOf(text) : [text]
  for (const document of documents) {
    const value = parseKeeping(document, keepShapeOf(declared.response))
    expect(declared.response.parse(value)).toEqual(value)
  }
}

function matches(paths: string | readonly string[], pathname: string): boolean {
  const literals = typeof paths === 'string' ? [paths] : paths
  return literals.some((literal) =>
    new RegExp(`^(/traces)?${literal.replace(/\{\w+\+\}/, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(
      pathname,
    ),
  )
}
