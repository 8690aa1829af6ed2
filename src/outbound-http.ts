import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, type Dispatcher, fetch as fetchFrom, request } from 'undici'
import { dependencyFailed, invalidRequest, messageOf } from './errors.ts'

/** A reply of an address that a client named. */
export interface OutboundReply {
  status: number
  /** At most the number of bytes requested. */
  text: string
}

export interface OutboundRequest {
  url: string
  headers: Record<string, string>
  body: string
  /** For all of it, in ms. */
  timeoutMs: number
  replyBytesMax: number
  signal: AbortSignal
}

/**
 * Addresses of this machine, of networks that are not public, and of no single machine. A list with networks of both
 * families would take `::ffff:0:0/96` for all of IPv4.
 */
const NOT_PUBLIC_IPV4 = subnets('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])

/**
 * All that is assigned to public networks so far. Others are of this machine, local, or stand for an IPv4 address,
 * which a gateway would connect to.
 */
const UNICAST_IPV6 = subnets('ipv6', ['2000::/3'])

/** Of these, what is of protocols, of tunnels, and of documents. */
const NOT_PUBLIC_IPV6 = subnets('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** Names that stand for this machine wherever they are resolved. */
const OF_THIS_MACHINE = /(?:^|\.)localhost\.?$/

function subnets(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether an address is one that is public; an IPv6 address that stands for an IPv4 address is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !NOT_PUBLIC_IPV4.check(address)
  return family === 6 && UNICAST_IPV6.check(address, 'ipv6') && !NOT_PUBLIC_IPV6.check(address, 'ipv6')
}

/**
 * Sends requests to addresses that clients name. Only public addresses are connected to, checked after name resolution,
 * except configured hosts; redirects are not followed.
 */
export interface Outbound extends AsyncDisposable {
  /** Whether the host of a URL is configured as allowed. */
  isNamed(url: string): boolean
  /** @throws 400 for a URL that is not allowed, as far as its text shows; names are checked when they are resolved. */
  check(url: string): void
  /** @throws 400 for a URL that is not allowed, 503 when the reply takes too long or is too large. */
  post(req: OutboundRequest): Promise<OutboundReply>
  /** @throws as {@link post} */
  get(req: Omit<OutboundRequest, 'body'>): Promise<OutboundReply>
}

/** Sends requests to addresses that the admin of a team has entered, with the same rules as {@link Outbound}. */
export interface PublicFetch extends AsyncDisposable {
  /** As that of {@link Outbound}. */
  check(url: string): void
  fetch: typeof fetch
}

export interface OutboundOptions {
  /** Hosts, in lower case and with `:port` where only that port is meant, that need not be public. */
  allowedHosts: readonly string[]
  /** The environment variable that names these hosts, for messages. */
  setting: string
}

export function createPublicFetch(options: OutboundOptions): PublicFetch {
  const { check, dispatcherFor, ...agents } = createDispatchers(options)

  const fetchPublic: typeof fetch = async (target, init) => {
    const url = target instanceof Request ? target.url : String(target)
    const dispatcher = dispatcherFor(checkedUrl(url))
    // Both are the fetch of undici; only its own types know the dispatcher.
    const sent = fetchFrom(url, { ...init, dispatcher } as Parameters<typeof fetchFrom>[1])
    return (await sent) as unknown as Response
  }

  return { check, fetch: fetchPublic, ...agents }
}

interface Dispatchers extends AsyncDisposable {
  isAllowed(url: URL): boolean
  /** @throws 400 for a URL that is not allowed, as far as its text shows. */
  check(url: string): void
  /** @throws 400 for an address that is not public. */
  dispatcherFor(url: URL): Dispatcher
}

function createDispatchers({ allowedHosts, setting }: OutboundOptions): Dispatchers {
  const allowed = new Set(allowedHosts)
  const anywhere = new Agent()
  const publicOnly = new Agent({ connect: { lookup: publicLookup } })
  const isAllowed = ({ hostname, host }: URL): boolean => allowed.has(hostname) || allowed.has(host)

  function dispatcherFor(url: URL): Dispatcher {
    if (isAllowed(url)) return anywhere
    const address = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(address) !== 0 && !isPublicAddress(address)) throw notPublic(url.hostname, setting)
    return publicOnly
  }

  return {
    isAllowed,
    check(text) {
      const url = checkedUrl(text)
      if (dispatcherFor(url) === publicOnly && OF_THIS_MACHINE.test(url.hostname))
        throw notPublic(url.hostname, setting)
    },
    dispatcherFor,
    async [Symbol.asyncDispose]() {
      await Promise.all([anywhere.destroy(), publicOnly.destroy()])
    },
  }
}

export function createOutbound(options: OutboundOptions): Outbound {
  const { isAllowed, check, dispatcherFor, ...agents } = createDispatchers(options)

  async function send(
    method: 'GET' | 'POST',
    req: Omit<OutboundRequest, 'body'> & { body?: string },
  ): Promise<OutboundReply> {
    const url = checkedUrl(req.url)
    const dispatcher = dispatcherFor(url)
    const signal = AbortSignal.any([req.signal, AbortSignal.timeout(req.timeoutMs)])
    try {
      const { headers, body = null } = req
      const reply = await request(url, { method, headers, body, signal, dispatcher })
      return { status: reply.statusCode, text: await limitedText(reply.body, req.replyBytesMax) }
    } catch (error) {
      req.signal.throwIfAborted()
      if (error instanceof NotPublic) throw notPublic(url.hostname, options.setting)
      throw dependencyFailed(`${url.host} could not be asked: ${messageOf(error)}`, error)
    }
  }

  return {
    isNamed: (url) => isAllowed(new URL(url)),
    check,
    post: (req) => send('POST', req),
    get: (req) => send('GET', req),
    ...agents,
  }
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalidRequest(`Not an http or https URL: ${text}`)
  if (url.username !== '' || url.password !== '') throw invalidRequest('A URL with a user name is not asked')
  return url
}

/** A name resolved to an address that is not public. */
class NotPublic extends Error {
  constructor(host: string) {
    super(`${host} is not a public address`)
  }
}

function notPublic(host: string, setting: string) {
  return invalidRequest(
    `${host} is not a public address: the operator of this server can allow it with ${setting}=${host}`,
  )
}

/** Resolves a name for a connection in progress, and refuses it where any of its addresses is not public. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const [first] = addresses
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new NotPublic(hostname), '', 0)
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family)
  })
}

async function limitedText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > bytesMax) throw new Error(`the reply is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString('utf8')
}
