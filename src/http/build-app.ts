import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import { createEventLoopTurns, type EventLoopTurns } from '../fairness/event-loop-turns.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { withQueryLimits } from '../query-limits.ts'
import { NO_SPAN, NO_TELEMETRY, type Span, type Telemetry } from '../telemetry.ts'
import type { WebPages } from '../web/pages.ts'
import { bodyShapeOf, keptOf } from '../wire/body-shape.ts'
import { isStrict, parseLax, parseStrict } from '../wire/lax-parse.ts'
import { validationFailure } from '../wire/validation-error.ts'
import { type Access, type Allowed, type Authorize, isForOperator, needsKey } from './access.ts'
import { addApiDocs } from './api-docs.ts'
import { streamArriving } from './arriving-body.ts'
import { type Authenticator, credentialsOf } from './auth.ts'
import { type CallContext, type Caller, forwardedHost } from './caller.ts'
import { type CallerLimits, NO_CALLER_LIMITS, type RequestLimits } from './caller-limits.ts'
import { isClientGone } from './client-gone.ts'
import { errorReply } from './error-reply.ts'
import { createHeldBodies, type HeldBodies, type HeldBody } from './held-bodies.ts'
import { jsonBody } from './json-body.ts'
import { createHostCheck } from './known-hosts.ts'
import { openApiDocument } from './openapi.ts'
import {
  type Arriving,
  BODY_BYTES_MAX,
  type ReadBody,
  readDecompressed,
  readJson,
  readMultipart,
} from './request-body.ts'
import { ownerOf } from './request-owner.ts'
import { spanStartOf, subjectAttributes } from './request-span.ts'
import type { RawReply, Route } from './route.ts'
import { jsonLines } from './stream-reply.ts'
import { addWeb } from './web.ts'

export interface AppOptions {
  authenticator: Authenticator
  authorize: Authorize
  version: string
  log: Log
  /** Called for every answered request, when its status is known; the rest of a stream may still follow. */
  observe: (operationId: string, status: number, seconds: number) => void
  /** Records a span of each request; none where absent. */
  telemetry?: Telemetry
  /** What callers may use; where absent, they have no limits. */
  limits?: CallerLimits
  /** The web pages; where absent, only the API is served. */
  web?: WebPages | undefined
  /** Names besides those of this machine under which the server is reached; none where absent. */
  hosts?: readonly string[]
}

/** The whole HTTP surface as one fetch handler; `app.request('/path')` needs no server. */
export function buildApp(routes: readonly Route[], options: AppOptions): Hono {
  const app = new Hono()
  const bodies = createHeldBodies()
  const turns = createEventLoopTurns()
  const { web } = options
  const foreign = createHostCheck(options.hosts ?? [])
  app.use(async (c, next) => {
    const { host, origin, 'x-forwarded-host': forwarded } = c.req.header()
    // The host name that a proxy reports becomes part of links, so it must be a name of this server as well.
    const refused = foreign(host, origin) ?? foreign(forwardedHost(forwarded), undefined)
    if (refused === undefined) return next()
    return c.json({ detail: refused.message, reason: refused.message }, refused.status)
  })
  if (web !== undefined) addWeb(app, web)
  for (const declaration of routes) {
    const handler = handlerOf(declaration, { bodies, turns }, options)
    for (const path of pathsOf(declaration)) {
      app.on(declaration.method, patternOf(path), (c) => handler(c.req.raw, c.req.param(), bodySource(c)))
    }
  }
  let description: ReturnType<typeof openApiDocument> | undefined
  app.get('/openapi.json', async (c) => {
    description ??= openApiDocument(routes, options.version)
    return c.json(await description)
  })
  addApiDocs(app)
  app.notFound(async (c) => {
    const { method, path } = c.req
    const page = method === 'GET' ? await web?.page(c.req.raw) : undefined
    if (page !== undefined) return page
    const allowed = ASKING.has(method) ? [] : methodsAt(app, path)
    return allowed.length === 0 || allowed.includes(method)
      ? c.json({ detail: 'Not Found' }, 404)
      : c.json({ detail: 'Method Not Allowed' }, 405, { allow: allowed.join(', ') })
  })
  return app
}

/** Methods that only ask about a path: where no route answers them, the reply is 404 and not 405. */
const ASKING = new Set(['HEAD', 'OPTIONS'])

/** The methods that a path supports; none for an unknown path. */
function methodsAt(app: Hono, path: string): string[] {
  const known = [...new Set(app.routes.map(({ method }) => method))]
    .filter((method) => method !== 'ALL')
    .sort()
  // The check of hosts is a match of every path.
  const methods = known.filter((method) => app.router.match(method, path)[0].length > 1)
  // Every GET route also answers HEAD.
  return methods.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method]))
}

/** Wire: the Python client finds the trace API below `/traces` of its base URL, or at a URL of its own. */
function pathsOf(declaration: Route): string[] {
  const paths = typeof declaration.path === 'string' ? [declaration.path] : [...declaration.path]
  return declaration.family === 'trace' ? paths.flatMap((path) => [path, `/traces${path}`]) : paths
}

/** `{name}` is one segment of a path, `{name+}` is the rest of it. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{(\w+)\+\}/g, ':$1{.+}')
}

/** Files and payloads of clients are served with their declared type, and never run as a page of this server. */
const ON_EVERY_REPLY = { 'x-content-type-options': 'nosniff' }

/**
 * The bytes of a body, from the connection where the server provides it: the web stream of them takes longer than most
 * requests.
 */
function bodySource({ env, req }: Context): Readable {
  const listening = env as { incoming?: IncomingMessage } | undefined
  if (listening?.incoming !== undefined) return listening.incoming
  const body = Readable.fromWeb((req.raw.body ?? new Blob([]).stream()) as WebStream)
  // The stream may fail before anything reads it, and an error without a listener would end the process.
  return body.on('error', () => {})
}

type Handler = (request: Request, pathParams: Record<string, string>, body: Readable) => Promise<Response>

function handlerOf(
  declaration: Route,
  { bodies, turns }: { bodies: HeldBodies; turns: EventLoopTurns },
  { authenticator, authorize, log, observe, limits = NO_CALLER_LIMITS, telemetry = NO_TELEMETRY }: AppOptions,
): Handler {
  /** Made with the first request: of all routes together it takes a quarter of a second. */
  let read: ReadBody | undefined
  const spanStart = spanStartOf(declaration)

  async function handle(
    ...[request, pathParams, body, span]: [...Parameters<Handler>, Span]
  ): Promise<Response> {
    const requestId = requestIdOf(request)
    const started = performance.now()
    const url = new URL(request.url)
    const query = queryOf(url)
    const front = { bodies, turns, authenticator, authorize, limits }
    read ??= readBodyOf(declaration)
    const work: Work = { requestId, body, query, pathParams, read, span, ...front }
    const reply = await answer(declaration, request, work)
      .catch((error: unknown) => failed(error, { request, declaration, log }))
      .finally(() => work.held?.release())
    const status = reply.status ?? 200
    const ms = performance.now() - started
    observe(declaration.operationId, status, ms / 1000)
    span.set({ 'http.response.status_code': status, 'heddle.request_id': requestId })
    if (status >= 500) span.fail(String(status))
    const level = status >= 400 ? 'info' : 'debug'
    log[level](
      {
        request_id: requestId,
        method: request.method,
        path: url.pathname,
        status,
        ms: Math.round(ms),
      },
      'request',
    )
    // The server writes plain headers faster than those of a Headers object.
    const limited = work.limited?.headers()
    const headers = { ...reply.headers, ...limited, ...ON_EVERY_REPLY, 'x-request-id': requestId }
    const sent = request.method === 'HEAD' ? await cancelled(reply.body) : reply.body
    return new Response(sent as ConstructorParameters<typeof Response>[0], { status, headers })
  }

  return (request, pathParams, body) =>
    telemetry.root(
      spanStart,
      (span) => handle(request, pathParams, body, span),
      (name) => request.headers.get(name) ?? undefined,
    )
}

/**
 * The body of a reply to HEAD, which is handled as GET: none. The stream is cancelled, since nothing will read it and
 * its queries and files would stay open.
 */
async function cancelled(body: RawReply['body']): Promise<null> {
  if (body instanceof ReadableStream) await body.cancel()
  return null
}

function readBodyOf({ body }: Route): ReadBody {
  const shape = body === undefined ? 'any' : bodyShapeOf(body)
  return { shape, keep: keptOf(shape) }
}

/** Wire: the client has disconnected and reads no reply; proxies log this status for it. */
const CLIENT_GONE: RawReply = { status: 499, headers: {}, body: '' }

function failed(
  error: unknown,
  { request, declaration, log }: { request: Request; declaration: Route; log: Log },
): RawReply {
  if (isClientGone(error, request.signal)) return CLIENT_GONE
  // What failed is logged, whether or not the client still waits for its reply.
  const { status, headers, body } = errorReply(error, declaration.family, log)
  if (request.signal.aborted) return CLIENT_GONE
  return { status, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** Wire: a client may send an id for its request, and OpenAI's clients read the id of each request from its reply. */
function requestIdOf(request: Request): string {
  const named = request.headers.get('x-request-id') ?? ''
  return /^[\w.:-]{1,128}$/.test(named) ? named : newId()
}

interface Work {
  requestId: string
  body: Readable
  bodies: HeldBodies
  turns: EventLoopTurns
  /** Counts the body's bytes, as soon as the caller is known. */
  held?: HeldBody
  query: Record<string, string | string[]>
  pathParams: Record<string, string>
  read: ReadBody
  span: Span
  authenticator: Authenticator
  authorize: Authorize
  limits: CallerLimits
  /** Of this request, as soon as the caller is known. */
  limited?: RequestLimits
}

async function answer(declaration: Route, request: Request, work: Work): Promise<RawReply> {
  const caller = await callerOf(declaration, request, work.authenticator)
  // What anyone may ask is not counted, such as whether the server works.
  const counted = declaration.access === 'open' ? work.authenticator.anonymous : caller
  const limits = work.limits.open(counted)
  work.limited = limits
  limits.begin()
  const held = work.bodies.open(caller.keyId)
  work.held = held
  /** Only requests with a body cost enough to take turns. */
  const turn = (body: unknown): Promise<void> =>
    work.turns.turn(ownerOf({ body, ...work.pathParams }, caller))
  const input = {
    ...parsePart('query', declaration.query, work.query),
    ...(await bodyOf(
      declaration,
      { headers: request.headers, body: work.body },
      { held, read: work.read, turn, bodyBytesMax: limits.bodyBytesMax },
    )),
    ...parsePart('path', declaration.pathParams, work.pathParams),
  }
  const context: CallContext = {
    caller,
    signal: request.signal,
    requestId: work.requestId,
    isEncrypted: request.url.startsWith('https:'),
    header: (name) => request.headers.get(name) ?? undefined,
    bodyBytes: held.bytes(),
    holds: held.hold,
    limits,
  }
  // The declaration was checked with the types of its input, which `Route` has erased.
  const access = declaration.access as Access<object>
  const subjects = await work.authorize(access, input, caller)
  if (work.span !== NO_SPAN) work.span.set(subjectAttributes(access, input, caller))
  const forOperator = isForOperator(access, caller.rights)
  countFor(subjects, counted, { limits, bytes: held.bytes(), forOperator })
  return withQueryLimits(limits.queries, () => handled(declaration, input, context))
}

/**
 * Counts a request for the entities that it is about, and where it adds data for their storage. What operators do to
 * the server counts for their key alone: a team at its limit must not delay the change of that limit.
 */
function countFor(
  subjects: readonly Allowed[],
  { defaultEntity, keyId }: Caller,
  { limits, bytes, forOperator }: { limits: RequestLimits; bytes: number; forOperator: boolean },
): void {
  const entities = new Set(subjects.map(({ entity }) => entity))
  if (entities.size === 0 && keyId !== '' && !forOperator) entities.add(defaultEntity)
  for (const entity of entities) limits.forEntity(entity, bytes)
  const [added] = subjects.filter(({ verb }) => verb === 'ingest')
  if (added !== undefined) limits.stores(added.entity, bytes)
}

async function handled(declaration: Route, input: object, context: CallContext): Promise<RawReply> {
  const result: unknown = await declaration.handle(input, context)
  if (declaration.reply === 'raw') return result as RawReply
  if (declaration.reply === 'jsonl') {
    const body = await jsonLines(result as AsyncIterable<unknown>)
    return { headers: { 'content-type': 'application/jsonl' }, body }
  }
  return { headers: { 'content-type': 'application/json' }, body: await jsonBody(result) }
}

/** @throws 401 where the route needs a key and the request has no valid one. */
async function callerOf(
  { access }: Route,
  { headers }: Request,
  { callerOf, anonymous }: Authenticator,
): Promise<Caller> {
  if (access === 'signed') return anonymous
  const shown = credentialsOf(headers)
  if (needsKey(access)) return callerOf(shown)
  if (shown.key === undefined && shown.session === undefined) return anonymous
  return callerOf(shown).catch((error: unknown) => {
    if (access === 'open') return anonymous
    throw error
  })
}

async function bodyOf(
  declaration: Route,
  request: Arriving,
  options: { held: HeldBody; read: ReadBody; turn: (body: unknown) => Promise<void>; bodyBytesMax: number },
): Promise<object> {
  if (declaration.bodyKind === 'stream') return { stream: streamArriving(request.body) }
  if (declaration.body === undefined) return {}
  const { held, read, turn, bodyBytesMax } = options
  const limits = { bytesMax: Math.min(declaration.bodyBytesMax ?? BODY_BYTES_MAX, bodyBytesMax), held }
  if (declaration.bodyKind === 'bytes') {
    const bytes = await readDecompressed(request, limits)
    await turn(undefined)
    return { bytes }
  }
  if (declaration.bodyKind === 'multipart')
    return parsePart('body', declaration.body, await readMultipart(request, limits))
  const { value, size } = await readJson(request, { ...limits, ...read })
  await turn(value)
  return parsePart('body', declaration.body, value, { issues: size === 'large' ? 'first' : 'all' })
}

function parsePart(
  part: string,
  schema: z.ZodType | undefined,
  value: unknown,
  options: { issues?: 'all' | 'first' } = {},
): object {
  if (schema === undefined) return {}
  // What a query and a path hold are texts, also of Heddle's own endpoints.
  const isLax = part !== 'body' || !isStrict(schema)
  const parsed = isLax ? parseLax(schema, value, options) : parseStrict(schema, value, options)
  if (!parsed.success) throw validationFailure(part, parsed.error, value)
  return parsed.data as object
}

/** Repeated keys become lists, as FastAPI services read them. */
function queryOf(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  for (const key of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(key)
    query[key] = values.length === 1 ? (values[0] ?? '') : values
  }
  return query
}
