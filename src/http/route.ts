import { z } from 'zod'
import type { Access } from './access.ts'
import type { CallContext } from './caller.ts'
import type { RefusalStatus } from './statuses.ts'

type Part = z.ZodType
type Output<P> = P extends z.ZodType ? z.output<P> : Record<never, never>

/** The body of a route whose `bodyKind` is `stream`. */
export const UnreadBody = z.object({ stream: z.custom<ReadableStream<Uint8Array>>() })

/** The body of a route whose `bodyKind` is `bytes`. */
export const BytesBody = z.object({ bytes: z.custom<Uint8Array>() })

/** A file that came as multipart form data. */
export interface UploadedFile {
  name: string
  type: string
  bytes: Uint8Array
}

/** A reply that is not JSON. */
export interface RawReply {
  status?: number
  headers: Record<string, string>
  body: Uint8Array | string | ReadableStream<Uint8Array>
}

/**
 * How an endpoint answers: one JSON body, one JSON document a line (bytes being lines already), or bytes and streams of
 * its own.
 */
export type ReplyKind = 'json' | 'jsonl' | 'raw'

type Returned<Kind extends ReplyKind, Response> = Kind extends 'jsonl'
  ? Promise<AsyncIterable<Response | Uint8Array>>
  : Kind extends 'raw'
    ? Promise<RawReply>
    : Promise<Response> | Response

/**
 * One endpoint, declared. The input of `handle` is path, query and body merged; where names collide the path wins
 * over the body, and the body over the query.
 */
export interface RouteDeclaration<
  Path extends Part | undefined,
  Query extends Part | undefined,
  Body extends Part | undefined,
  Response extends Part,
  Kind extends ReplyKind,
> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * One literal, or several that mean the same operation. Parameters are written `{name}`, and `{name+}` at the end.
   */
  path: string | readonly string[]
  operationId: string
  /** Summary of the operation, one line, for the API description. */
  summary: string
  /** Set where every request is refused with 501: a part of the wire that this server does not implement. */
  unsupported?: true
  /** Decides the shape of error bodies; trace routes are served below `/traces` too. */
  family: 'trace' | 'training' | 'openai'
  /** Who may send it. */
  access: Access<Output<Path> & Output<Query> & Output<Body>>
  pathParams?: Path
  query?: Query
  body?: Body
  /**
   * How the body is read. `stream` hands over the unread bytes as `input.stream`; `bytes` hands over all of them, as
   * they were before the client compressed them, as `input.bytes`.
   */
  bodyKind?: 'json' | 'multipart' | 'stream' | 'bytes'
  /** What a body of bytes or a stream holds, for the API description; its reader checks it. */
  streamedBody?: z.ZodType
  /** Media types of a body that is not a JSON document or a form; `application/json` where absent. */
  bodyTypes?: readonly string[]
  /** Bytes; the server's default limit where absent. */
  bodyBytesMax?: number
  reply: Kind
  response: Response
  /** Media types of a `raw` reply; `application/octet-stream` where absent. */
  replyTypes?: readonly string[]
  /** Statuses that this route refuses requests with, beyond those of all routes of its kind (`refusals.ts`). */
  refusals?: readonly RefusalStatus[]
  /** Statuses besides 200 whose body is `response`, such as 503 of a health check. */
  reportedAt?: readonly RefusalStatus[]
  handle: (
    input: Output<Path> & Output<Query> & Output<Body>,
    context: CallContext,
  ) => Returned<Kind, z.input<Response>>
}

/** A route whose types have been checked at its declaration and are no longer needed. */
export type Route = RouteDeclaration<Part | undefined, Part | undefined, Part | undefined, Part, ReplyKind>

/** Checks a declaration's types: a handler that returns what `response` forbids does not compile. */
export function route<
  Response extends Part,
  Kind extends ReplyKind,
  Path extends Part | undefined = undefined,
  Query extends Part | undefined = undefined,
  Body extends Part | undefined = undefined,
>(declaration: RouteDeclaration<Path, Query, Body, Response, Kind>): Route {
  // The one place where types are erased: the server parses the input with these same schemas before it calls.
  return declaration as unknown as Route
}
