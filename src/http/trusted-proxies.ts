import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** What a proxy says about the request that it received. */
const OF_PROXIES = new Set(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'])

/** Addresses and networks of proxies. */
export type Networks = BlockList

/** @returns undefined for a text that is neither an address nor a network such as `10.0.0.0/8` */
export function parseNetworks(texts: readonly string[]): Networks | undefined {
  const networks = new BlockList()
  for (const text of texts) {
    const [address = '', bits, ...rest] = text.split('/')
    const version = isIP(address)
    if (version === 0 || rest.length > 0) return undefined
    // Digits alone: `Number` takes nothing for 0, which is every address.
    if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined
    const length = bits === undefined ? bitsOf(version) : Number(bits)
    if (length > bitsOf(version)) return undefined
    networks.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6')
  }
  return networks
}

/** Takes out of a request what only a trusted proxy may say: its address and headers are then the peer's own. */
export function dropForwarded(request: IncomingMessage, trusted: Networks): void {
  if (isTrusted(request.socket.remoteAddress, trusted)) return
  const kept: string[] = []
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(index, index + 2)
    if (OF_PROXIES.has(name.toLowerCase())) delete request.headers[name.toLowerCase()]
    else kept.push(name, value)
  }
  if (kept.length < request.rawHeaders.length) request.rawHeaders = kept
}

function isTrusted(address: string | undefined, trusted: Networks): boolean {
  if (address === undefined) return false
  // A socket of both families writes addresses of IPv4 as ::ffff:10.0.0.1; those of a link have a zone, fe80::1%eth0.
  const plain = address.replace(/^::ffff:/i, '').replace(/%.*$/, '')
  return trusted.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

function bitsOf(version: number): number {
  return version === 4 ? 32 : 128
}
