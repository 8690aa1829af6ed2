/**
 * Refuses requests that a page of another site makes a browser send. Where any key is accepted, a page whose name is
 * resolved to this machine (DNS rebinding) could otherwise read and write everything.
 */

import { LOOPBACK } from '../settings/hosts-setting.ts'

/** A refused request: its status and message. */
export interface ForeignRequest {
  status: 403 | 421
  message: string
}

/**
 * Checks the names that a request was sent to and comes from; undefined for an accepted request. Programs send no
 * `Origin`, and need not send `Host`.
 */
export type HostCheck = (host: string | undefined, origin: string | undefined) => ForeignRequest | undefined

/** @param hosts names besides those of this machine under which the server is reached */
export function createHostCheck(hosts: readonly string[]): HostCheck {
  const known = new Set(hosts.map((name) => name.toLowerCase()))

  function isKnown(hostname: string): boolean {
    const name = hostname.toLowerCase()
    return LOOPBACK.test(name) || known.has(name)
  }

  return (host, origin) => {
    const named = host === undefined ? undefined : hostnameOf(`http://${host}`)
    if (host !== undefined && (named === undefined || !isKnown(named))) {
      return {
        status: 421,
        message: `This server is not known as ${host.slice(0, 200)}: name it in HEDDLE_HOSTS if it should be`,
      }
    }
    const from = origin === undefined ? undefined : hostnameOf(origin)
    if (origin !== undefined && (from === undefined || !isKnown(from))) {
      return {
        status: 403,
        message: `Pages of ${origin.slice(0, 200)} may not use this server: name its host in HEDDLE_HOSTS if they should`,
      }
    }
    return undefined
  }
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}
