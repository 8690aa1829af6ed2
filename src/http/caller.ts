import type { Rights } from '../access.ts'
import type { RequestLimits } from './caller-limits.ts'

/** The caller of a request: all that services see of it. */
export interface Caller {
  /** The user's name, written into what they create. */
  user: string
  /** The entity for requests that name none. */
  defaultEntity: string
  /** An id of the key that does not reveal the key. */
  keyId: string
  /** When the key ends, and with it what is made by it; absent for one without an end. */
  keyEndsAt?: string
  rights: Rights
}

/** What a handler gets beside its input. */
export interface CallContext {
  caller: Caller
  /** Aborts when the client goes away. */
  signal: AbortSignal
  /** The client's own id for the request, from its header; a new one where that is absent or malformed. */
  requestId: string
  /** Whether the connection to this server is encrypted; one to a proxy before it may be, too. */
  isEncrypted?: boolean
  /** A request header, by its lower-case name. */
  header(name: string): string | undefined
  /** Bytes of the body, decompressed; absent where none was read before the handler, and for work without a request. */
  bodyBytes?: number
  /**
   * Counts bytes that are made of the body like those of the body, until the request is answered; absent for work
   * without a request. @throws 503 when there is no room for them
   */
  holds?: (bytes: number) => void
  /** Limits that depend on what only its handler finds out; absent for work without a request. */
  limits?: Pick<RequestLimits, 'forEntity' | 'stores' | 'uploads' | 'setHeader'>
}

/**
 * The bytes of an upload, counted as what an entity stores: as many as the client announced before any is read, and all
 * others as they arrive. Those of an upload that fails on the way are not counted.
 * @throws 402 where they do not fit, at once or while they are read
 */
export function countedUpload(
  stream: ReadableStream<Uint8Array>,
  entity: string,
  { header, limits }: Pick<CallContext, 'header' | 'limits'>,
): AsyncIterable<Uint8Array> {
  const announced = lengthOf(header('content-length'))
  const storage = limits?.uploads(entity)
  storage?.add(announced)
  async function* counted(): AsyncGenerator<Uint8Array> {
    let left = announced
    let isWhole = false
    try {
      for await (const chunk of stream) {
        const beyond = Math.max(0, chunk.byteLength - left)
        left -= chunk.byteLength - beyond
        if (beyond > 0) storage?.add(beyond)
        yield chunk
      }
      isWhole = true
    } finally {
      if (!isWhole) storage?.takeBack()
    }
  }
  return counted()
}

/**
 * The address of this server, as the client addressed it. Wire: clients expect absolute URLs. A proxy in front reports
 * the name it was reached by.
 */
export function originOf(context: CallContext): string {
  const forwarded = ofFirstProxy(context.header('x-forwarded-proto'))?.toLowerCase()
  const isHttps = context.isEncrypted || forwarded === 'https'
  const scheme = isHttps ? 'https' : 'http'
  const host = forwardedHost(context.header('x-forwarded-host')) ?? context.header('host') ?? 'localhost'
  return `${scheme}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
}

/** The name that the first proxy was reached by. */
export function forwardedHost(header: string | undefined): string | undefined {
  return ofFirstProxy(header)
}

/** What the first proxy has reported; each further one appends what it saw itself. */
function ofFirstProxy(header: string | undefined): string | undefined {
  return header?.split(',')[0]?.trim()
}

/** Wire: a client that makes the bytes while it sends them announces no length. */
function lengthOf(header: string | undefined): number {
  const bytes = Number(header ?? 0)
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0
}
