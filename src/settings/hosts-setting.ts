import { isIPv6 } from 'node:net'
import { z } from 'zod'

/**
 * Names and addresses in lower case, with `:port` where only that port is meant. An IPv6 address may stand without its
 * brackets, as Kubernetes gives that of a pod.
 */
export const Hosts = z
  .string()
  .transform((text) => text.split(',').map((host) => bracketed(host.trim().toLowerCase())))
  .pipe(
    z.array(
      z.string().regex(/^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/, { error: 'hosts, separated by commas' }),
    ),
  )

/** Those under which the server is reached, at whatever port. */
export const HostNames = Hosts.refine((hosts) => !hosts.some((host) => /:\d+$/.test(withoutAddress(host))), {
  error: 'names without ports, separated by commas',
})

/** Addresses that add no name: those of all interfaces, and those by which every server is known. */
const UNNAMED = new Set(['0.0.0.0', '::', '127.0.0.1', 'localhost', '::1'])

/** Names of this machine, as addresses have them. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Names under which a server is reached besides those of this machine, with one that it listens at or is reached by.
 */
export function namesWith(hosts: readonly string[], name: string): string[] {
  const own = bracketed(name.toLowerCase())
  return UNNAMED.has(name) || hosts.includes(own) ? [...hosts] : [...hosts, own]
}

/** An IPv6 address in brackets, as browsers write it in `Host`. */
function bracketed(host: string): string {
  const [, address = host, port = ''] = /^\[(.+)\](:\d+)?$/.exec(host) ?? []
  if (!isIPv6(address)) return host
  const url = URL.parse(`http://[${address}]`)
  return `${url?.hostname ?? `[${address}]`}${port}`
}

/** What stands behind the brackets of an IPv6 address, which has colons of its own; other hosts as they are. */
function withoutAddress(host: string): string {
  return host.replace(/^\[.*\]/, 'address')
}
