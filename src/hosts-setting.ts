import { isIPv6 } from 'node:net'
import { z } from 'zod'

/**
 * Names and addresses in lower case, with `:port` where only that port is meant. An IPv6 address may stand without its brackets, as
 * Kubernetes gives that of a pod.
 */
export const Hosts = z
  .string()
  .transform((text) => text.split(',').map((host) => bracketed(host.trim().toLowerCase())))
  .pipe(
    z.array(
      z.string().regex(/^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/, { error: 'hosts, separated by commas' }),
    ),
  )

function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}
