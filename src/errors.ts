import { withoutNul } from './without-nul.ts'

/** Wire: clients try again after any 5xx, unless the reply says that this is pointless. */
const NO_RETRY = { 'x-should-retry': 'false' }

/** An error a client may see. `http/` turns it into the body of the route's wire family. */
export class ClientError extends Error {
  readonly status: number
  /** The wire's word for the kind of error, as OpenAI clients read it in `error.type`. */
  readonly type: string
  /** Further top-level fields of the body, such as `deleted_at`. */
  readonly extra: Record<string, unknown>
  /** Headers that the reply carries although the request failed. */
  readonly headers: Record<string, string>
  /** The request field at fault, where there is one. */
  readonly param: string | null
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    type: string,
    message: string,
    options: {
      extra?: Record<string, unknown>
      headers?: Record<string, string>
      param?: string
      retryAfterSeconds?: number
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.status = status
    this.type = type
    this.extra = options.extra ?? {}
    this.headers = options.headers ?? {}
    this.param = options.param ?? null
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** 400: the request is well-formed but asks for something that makes no sense. */
export function invalidRequest(message: string, param?: string): ClientError {
  return new ClientError(400, 'BadRequestError', message, param === undefined ? {} : { param })
}

/** 401: no key, or one that is not valid. */
export function unauthorized(
  message = 'No API key: send "Authorization: Bearer KEY" or Basic auth with user "api" and the key as password.',
): ClientError {
  return new ClientError(401, 'AuthenticationError', message)
}

/** 402: what was bought is used up; the same request is refused until then. Wire: clients do not try again. */
export function spent(message: string, retryAfterSeconds: number): ClientError {
  return new ClientError(402, 'PaymentRequiredError', message, { retryAfterSeconds })
}

/** 403: a field or name that is not allowed. Wire: the trace API uses 403 for bad names and fields. */
export function notAllowed(message: string): ClientError {
  return new ClientError(403, 'PermissionDeniedError', message)
}

/** 404: `what` with `id` is unknown. */
export function notFound(what: string, id: string, options: { param?: string } = {}): ClientError {
  return new ClientError(404, 'NotFoundError', `${what} ${id} not found`, options)
}

/** 404: of several things that were named, not all are there. */
export function notAllFound(message: string): ClientError {
  return new ClientError(404, 'NotFoundError', message)
}

/** 404 with `deleted_at`. Wire: clients retry a 404 once unless it carries `deleted_at`. */
export function deleted(message: string, deletedAt: string): ClientError {
  return new ClientError(404, 'NotFoundError', message, { extra: { deleted_at: deletedAt } })
}

/** 408: the client did not send its body in time. Wire: OpenAI's clients try again. */
export function tooSlow(message: string): ClientError {
  return new ClientError(408, 'RequestTimeoutError', message)
}

/** 409: the request contradicts what is stored. */
export function conflict(message: string): ClientError {
  return new ClientError(409, 'ConflictError', message)
}

/** 413: a body or list over its limit. Wire: the Python client halves a batch on 413. */
export function tooLarge(message: string): ClientError {
  return new ClientError(413, 'RequestTooLargeError', message)
}

/** 415: a body of a type or an encoding that the endpoint does not read. */
export function unsupportedMediaType(message: string): ClientError {
  return new ClientError(415, 'UnsupportedMediaTypeError', message)
}

/** 429: the caller, or all callers together, exceed the limit that the message names. */
export function tooManyRequests(message: string, retryAfterSeconds: number): ClientError {
  return new ClientError(429, 'RateLimitError', message, { retryAfterSeconds })
}

/** 499: the client went before it had sent its request; no client sees this, and proxies log this status for it. */
export function clientGone(): ClientError {
  return new ClientError(499, 'ClientGoneError', 'The client went away')
}

/** 501: part of the wire that this server does not implement. */
export function notImplemented(message: string): ClientError {
  return new ClientError(501, 'NotImplementedError', message, { headers: NO_RETRY })
}

/** 503: nothing was applied; the same request may succeed later. */
export function unavailable(message: string, retryAfterSeconds = 5): ClientError {
  return new ClientError(503, 'ServiceUnavailableError', message, { retryAfterSeconds })
}

/**
 * 503: a part of the server is not installed, and the same request fails until it is. Wire: OpenAI's clients would
 * otherwise retry for minutes before they show the message.
 */
export function notInstalled(message: string): ClientError {
  return new ClientError(503, 'ServiceUnavailableError', message, { headers: NO_RETRY })
}

/** 503: a store (database, file store, disk) fails or does not answer; the cause goes to the log only. */
export class StoreFailed extends ClientError {
  constructor(message: string, cause: unknown, retryAfterSeconds = 5) {
    super(503, 'ServiceUnavailableError', message, { cause, retryAfterSeconds })
  }
}

/** 503: another component Heddle relies on (engine, model, provider) failed; the cause goes to the log only. */
export function dependencyFailed(message: string, cause: unknown): ClientError {
  return new ClientError(503, 'ServiceUnavailableError', message, { cause, retryAfterSeconds: 5 })
}

/** The message of a thrown value, for logs and for reasons that are stored and shown to people: without U+0000. */
export function messageOf(error: unknown): string {
  return withoutNul(error instanceof Error ? error.message : String(error))
}

/** The messages of an error and of its causes, for operators: causes say what clients may not see. */
export function messagesOf(error: unknown): string {
  const messages = new Set<string>()
  for (let at = error; at !== undefined; at = at instanceof Error ? at.cause : undefined)
    messages.add(messageOf(at))
  return [...messages].join(': ')
}
