/** Who is calling. Services see nothing else of a request. */
export interface Caller {
  /** The user's name, written into what they create. */
  user: string
  /** The entity that is meant when a request names none. */
  defaultEntity: string
  /** Tells keys apart without telling what they are. */
  keyId: string
}

/** What a handler gets beside its input. */
export interface CallContext {
  caller: Caller
  /** Aborts when the client goes away. */
  signal: AbortSignal
  /** The client's own name for the request, from its header; a new one where it gave none that is fit to be one. */
  requestId: string
  /** A request header, by its lower-case name. */
  header(name: string): string | undefined
}

/**
 * The address of this server, as the client has just used it. Wire: clients want absolute URLs. A proxy in front says what it
 * was called by.
 */
export function originOf(context: CallContext): string {
  const scheme = context.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  const host = forwardedHost(context.header('x-forwarded-host')) ?? context.header('host') ?? 'localhost'
  return `${scheme}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`
}

/** The name that the first proxy was called by; each further proxy adds one. */
export function forwardedHost(header: string | undefined): string | undefined {
  return header?.split(',')[0]?.trim()
}
