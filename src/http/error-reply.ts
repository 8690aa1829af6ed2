import { ClientError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { logUnexpected } from '../unexpected-error.ts'
import { ValidationFailure } from '../wire/validation-error.ts'
import type { Route } from './route.ts'

export interface ErrorReply {
  status: number
  headers: Record<string, string>
  body: Record<string, unknown>
}

/** Turns any thrown value into the reply of a wire family, and logs what is not the caller's mistake. */
export function errorReply(error: unknown, family: Route['family'], log: Log): ErrorReply {
  if (error instanceof ValidationFailure) return validationReply(error, family)
  if (error instanceof ClientError) {
    if (error.status >= 500) log.warn({ err: error.cause ?? error }, error.message)
    return { status: error.status, headers: headersOf(error), body: bodyOf(error, family) }
  }
  if (isTooDeep(error)) {
    const refusal = new ClientError(400, 'BadRequestError', 'The request is nested too deeply', {
      cause: error,
    })
    return { status: 400, headers: {}, body: bodyOf(refusal, family) }
  }
  const internal = new ClientError(500, 'InternalServerError', logUnexpected(error, log))
  return { status: 500, headers: {}, body: bodyOf(internal, family) }
}

function headersOf({ status, retryAfterSeconds, headers }: ClientError): Record<string, string> {
  return {
    ...headers,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    // The rest of the body is not read, so the connection cannot be used again.
    ...(status === 408 && { connection: 'close' }),
  }
}

/** Only a caller's document determines the depth of recursions in the server. */
function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

function validationReply(failure: ValidationFailure, family: Route['family']): ErrorReply {
  const body: Record<string, unknown> = { detail: failure.detail }
  if (family === 'openai') {
    // OpenAI clients show `error.message`; the detail array stands beside it.
    const param = failure.detail[0]?.loc.slice(1).join('.') ?? null
    body['error'] = { message: messageOf(failure), type: 'UnprocessableEntityError', param, code: 422 }
  }
  return { status: 422, headers: {}, body }
}

function bodyOf(error: ClientError, family: Route['family']): Record<string, unknown> {
  switch (family) {
    case 'trace':
      return { reason: error.message, ...error.extra }
    case 'training':
      return { detail: error.message, ...error.extra }
    case 'openai':
      return {
        error: { message: error.message, type: error.type, param: error.param, code: error.status },
        detail: error.message,
      }
  }
}
