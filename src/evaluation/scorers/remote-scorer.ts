import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { dependencyFailed, invalidRequest, messageOf, tooLarge } from '../../errors.ts'
import { parseShallow } from '../../json/parse-shallow.ts'
import type { Outbound, OutboundReply, OutboundRequest } from '../../outbound-http.ts'
import type { ScorerSecrets } from '../../settings/scorer-secrets.ts'
import { nowIso } from '../../time.ts'
import { recordOf } from '../../wire/bounded-wire.ts'
import { checked } from '../../wire/checked.ts'
import { withoutKey } from '../../without-key.ts'
import type { Published } from '../published.ts'
import type { Scored, Scorer, ScoringContext } from './scorer.ts'
import { typedScores } from './typed-scores.ts'

/** Wire: attempts and all of them together, as the service that the clients know makes them for turns of agents. */
const ATTEMPTS_MAX = 3
const TIMEOUT_MS = 30_000
const RETRY_MS = 500

/** Wire: of a request and of a reply. */
const BODY_BYTES_MAX = 1024 * 1024

/** A token is renewed this long before it expires. */
const TOKEN_MARGIN_S = 30
const TOKENS_MAX = 1000

const Url = z.string().trim()

const Auth = z.discriminatedUnion('mode', [
  z.looseObject({ mode: z.literal('static_bearer'), bearer_secret_name: z.string().trim().min(1) }),
  z.looseObject({
    mode: z.literal('oauth_client_credentials'),
    token_endpoint_url: Url,
    client_id: z.string(),
    client_secret_name: z.string().trim().min(1),
    scope: z.string().nullish(),
  }),
])
type Auth = z.output<typeof Auth>
type ClientCredentials = Extract<Auth, { mode: 'oauth_client_credentials' }>

/** Settings of a service, which are sent to it with each call. */
const SETTINGS_MAX = 1_000

/** The value of a `RemoteScorer` as clients publish it. */
const RemoteScorer = z.looseObject({
  name: z.string().nullish(),
  endpoint_url: Url,
  config: recordOf(z.unknown(), SETTINGS_MAX).nullish(),
  auth_config: Auth.nullish(),
})

const Reply = z.looseObject({
  schema_version: z.int(),
  result: z.unknown().refine((result) => result !== undefined, { error: 'is missing' }),
})
const Token = z.looseObject({ access_token: z.string().min(1), expires_in: z.coerce.number().nullish() })

type Request = Omit<OutboundRequest, 'timeoutMs'>

/** What an endpoint recognises the server by. */
interface Proof {
  token?: string
  /** Whether the token was obtained for an earlier request, and may have been revoked since. */
  isOld: boolean
}

export interface RemoteDeps {
  outbound: Outbound
  secrets: ScorerSecrets
}

/** Scorers behind a URL, which receive the call to score. Wire: the contract is that of weave's `RemoteScorer`. */
export interface RemoteScorers {
  /** @throws 400 for a scorer that cannot be used. */
  load(published: Published): Pick<Scorer, 'score' | 'results'>
}

export function createRemoteScorers({ outbound, secrets }: RemoteDeps): RemoteScorers {
  const tokens = new LRUCache<string, string>({ max: TOKENS_MAX })

  /** @throws 400 for an endpoint or a secret that may not be used. */
  async function proofOf(
    auth: Auth | null | undefined,
    { url, signal }: { url: string; signal: AbortSignal },
  ): Promise<Proof> {
    checkAuth(secrets, auth, url)
    if (auth == null) return { isOld: false }
    if (auth.mode === 'static_bearer')
      return { token: secrets.read(auth.bearer_secret_name, url), isOld: false }
    const known = tokens.get(keyOf(auth))
    if (known !== undefined) return { token: known, isOld: true }
    const { token_endpoint_url, client_id, client_secret_name, scope } = auth
    const secret = secrets.read(client_secret_name, token_endpoint_url)
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope != null && { scope }) })
    const user = `${encodeURIComponent(client_id)}:${encodeURIComponent(secret)}`
    const reply = await outbound.post({
      url: token_endpoint_url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(user).toString('base64')}`,
      },
      body: form.toString(),
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: BODY_BYTES_MAX,
      signal,
    })
    if (reply.status !== 200) throw refused('The token endpoint', reply)
    const { access_token, expires_in } = replyOf(Token, reply, 'The reply of the token endpoint')
    const ttl = ((expires_in ?? 0) - TOKEN_MARGIN_S) * 1000
    if (ttl > 0) tokens.set(keyOf(auth), access_token, { ttl })
    return { token: access_token, isOld: false }
  }

  /** What the endpoint repeats of the token is left out. */
  async function askedWith({ token }: Proof, request: Request): Promise<OutboundReply> {
    const headers = { ...request.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
    const reply = await repeated(request.signal, (timeoutMs) =>
      outbound.post({ ...request, headers, timeoutMs }),
    )
    return { ...reply, text: withoutKey(reply.text, token) }
  }

  /** Asks an endpoint, once more where it refuses an old token: a provider may revoke a token before it expires. */
  async function asked(auth: Auth | null | undefined, request: Request): Promise<OutboundReply> {
    const proof = await proofOf(auth, request)
    const reply = await askedWith(proof, request)
    if (reply.status !== 401 || !proof.isOld || auth?.mode !== 'oauth_client_credentials') return reply
    // A request beside this one may have obtained another token already.
    if (tokens.get(keyOf(auth)) === proof.token) tokens.delete(keyOf(auth))
    return askedWith(await proofOf(auth, request), request)
  }

  function load({ name: object, ref, val }: Published): Pick<Scorer, 'score' | 'results'> {
    const remote = checked(RemoteScorer, val, object)
    const name = remote.name ?? object
    if (!URL.canParse(remote.endpoint_url)) throw invalidRequest(`${object}: endpoint_url is no URL`)
    checkAuth(secrets, remote.auth_config, remote.endpoint_url)
    return {
      async score(scored, context) {
        const version = scored.turn === undefined ? 1 : 2
        const scorer = { name, ref, ...(remote.config != null && { config: remote.config }) }
        const body = requestText(version, { scored, context, scorer })
        const key = `${version}/${scored.turn?.span_id ?? scored.call?.id ?? context.callId}/${ref}/${context.monitor?.version_digest ?? ''}`
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': createHash('sha256').update(key).digest('hex'),
          'x-correlation-id': context.callId,
          'x-weave-schema-version': String(version),
        }
        const { signal } = context
        const request = { url: remote.endpoint_url, headers, body, replyBytesMax: BODY_BYTES_MAX, signal }
        const reply = await asked(remote.auth_config, request)
        if (reply.status !== 200) throw refused(object, reply)
        const answer = replyOf(Reply, reply, `The reply of ${object}`)
        if (answer.schema_version !== version)
          throw invalidRequest(
            `${object} answered with schema_version ${answer.schema_version}, not ${version}`,
          )
        return answer.result
      },
      results: (output) => [{ ref, output, typed: typedScores(output, name) }],
    }
  }

  return { load }
}

/**
 * A token is as good as the secret that it was made with: both go to hosts of the secret alone.
 * @throws 400 for other hosts.
 */
function checkAuth(secrets: ScorerSecrets, auth: Auth | null | undefined, url: string): void {
  if (auth?.mode === 'static_bearer') secrets.read(auth.bearer_secret_name, url)
  if (auth?.mode !== 'oauth_client_credentials') return
  for (const used of [auth.token_endpoint_url, url]) secrets.read(auth.client_secret_name, used)
}

/** Wire: the member is required, and scores without a monitor have none to name. */
const NO_MONITOR = { name: '', version_digest: '' }

/** @throws 413 for more than a remote scorer is sent. */
function requestText(
  schema_version: number,
  { scored, context, scorer }: { scored: Scored; context: ScoringContext; scorer: object },
): string {
  const text = JSON.stringify({
    schema_version,
    ...targetOf(scored, context),
    scoring_call_id: context.callId,
    scoring_trace_id: context.traceId,
    monitor: context.monitor ?? NO_MONITOR,
    scorer,
    triggered_at: nowIso(),
  })
  if (Buffer.byteLength(text) > BODY_BYTES_MAX)
    throw tooLarge(`A remote scorer is sent at most ${BODY_BYTES_MAX} bytes`)
  return text
}

/** The scored call, as text alone. */
function targetOf({ turn, call, inputs, output }: Scored, context: ScoringContext): object {
  if (turn !== undefined) return { scoring_target: { type: 'agent_turn', schema_version: 1, payload: turn } }
  return {
    original_call: {
      project_id: context.project_id,
      call_id: call?.id ?? context.callId,
      trace_id: call?.trace_id ?? context.traceId,
      op_name: call?.op_name ?? '',
      inputs,
      started_at: call?.started_at ?? nowIso(),
      ...(call?.ended_at != null && { ended_at: call.ended_at }),
      output,
      ...(call?.exception != null && { exception: call.exception }),
    },
  }
}

/** Repeats what may succeed a moment later. */
async function repeated(
  signal: AbortSignal,
  work: (timeoutMs: number) => Promise<OutboundReply>,
): Promise<OutboundReply> {
  const end = performance.now() + TIMEOUT_MS
  for (let attempt = 1; ; attempt++) {
    const reply = await work(Math.ceil(end - performance.now()))
    const isLast = attempt === ATTEMPTS_MAX || performance.now() + RETRY_MS * attempt >= end
    if (isLast || !mayPass(reply.status)) return reply
    await delay(RETRY_MS * attempt, undefined, { signal })
  }
}

function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 429
}

/** Wire: the body of an error is not read. */
function refused(who: string, { status }: OutboundReply) {
  const message = `${who} answered with status ${status}`
  return mayPass(status) ? dependencyFailed(message, undefined) : invalidRequest(message)
}

/** @throws 400 that begins with `what`, for a reply of another form */
function replyOf<Schema extends z.ZodType>(
  schema: Schema,
  { text }: OutboundReply,
  what: string,
): z.output<Schema> {
  let value: unknown
  try {
    value = parseShallow(text)
  } catch (error) {
    throw invalidRequest(`${what}: ${messageOf(error)}`)
  }
  return checked(schema, value, what)
}

/** What a token depends on. */
function keyOf({ token_endpoint_url, client_id, client_secret_name, scope }: ClientCredentials): string {
  return JSON.stringify([token_endpoint_url, client_id, client_secret_name, scope])
}
