import { z } from 'zod'
import { LOOPBACK } from './hosts-setting.ts'

/** Scheme, name and port: links have paths of their own. */
export const PublicUrl = z
  .url({ protocol: /^https?$/ })
  .transform((text) => new URL(text))
  .refine(({ href, origin }) => href === `${origin}/`, {
    error: 'an address without a path, such as https://heddle.example.com',
  })
  .transform(({ origin }) => origin)

/**
 * The address of this server in links for users on other machines.
 * @param reached the address by which the server was reached
 */
export type PublicAddress = (reached: string) => string

export interface PublicAddressOptions {
  /** What the operator says it is. */
  publicUrl: string | undefined
  /** Where the server listens. */
  host: string
  /** Names besides those of this machine under which it is reached. */
  hosts: readonly string[]
}

/** Of a server that listens on all addresses of the machine, as settings and URLs have it. */
const EVERYWHERE = new Set(['0.0.0.0', '::', '[::]'])

export function createPublicAddress({ publicUrl, host, hosts }: PublicAddressOptions): PublicAddress {
  if (publicUrl !== undefined) return () => publicUrl
  // Under its names such a server is reached through a proxy, whose scheme and port it does not know.
  if (!EVERYWHERE.has(host)) return (reached) => reached
  const name = hosts.find((each) => !LOOPBACK.test(each)) ?? 'localhost'

  return (reached) => {
    const url = URL.parse(reached)
    const isOfThisMachine = url !== null && (LOOPBACK.test(url.hostname) || EVERYWHERE.has(url.hostname))
    if (!isOfThisMachine) return reached
    url.hostname = name
    return url.origin
  }
}
