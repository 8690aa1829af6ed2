import { z } from 'zod'

/** Tables of which servers keep rows in memory. */
export const WATCHED_TABLES = [
  'users',
  'memberships',
  'api_keys',
  'usage_limits',
  'budgets',
  'redaction_rules',
  'erasures',
] as const
export type WatchedTable = (typeof WATCHED_TABLES)[number]

/** What servers tell each other besides rows. */
export type Topic =
  /** Jobs are due. */
  | 'jobs'
  /** A job that runs is to end. */
  | 'cancelled'
  /** The project whose monitors have changed. */
  | 'monitors'
  /** Whose usage has been stored. */
  | 'usage'
  /** Requests, and tokens, that were used of limits by the minute. */
  | 'requests'
  | 'tokens'
  /** Bytes that were stored, of entities with a limit of them. */
  | 'storage'
  /** Requests that run. */
  | 'running'
  /** The sender cannot use Redis. */
  | 'without_redis'

/** Called with a text that another server sent; with undefined where texts may have been missed. */
export type Heard = (text: string | undefined, from: string) => void

/** The other servers of the same stores, as far as this one has to know what they do (docs/decisions/0038). */
export interface Peers {
  /** Whether there may be any. */
  readonly arePossible: boolean
  /** This server, as others see it, whichever way its messages take. */
  readonly self: string
  /**
   * Has a function called after each commit that changed rows of one of the tables, on any server; also when such
   * commits may have been missed, and from time to time while they cannot be seen.
   */
  onChange(tables: readonly WatchedTable[], changed: () => void): void
  /** Sends a text of at most {@link TEXT_BYTES_MAX} to all other servers; one that cannot be reached misses it. */
  send(topic: Topic, text: string): void
  onMessage(topic: Topic, heard: Heard): void
}

/** Those who listen to messages, by topic. */
export function createListeners() {
  const heard = new Map<string, Heard[]>()
  return {
    add(topic: Topic, call: Heard): void {
      heard.set(topic, [...(heard.get(topic) ?? []), call])
    },
    /** Passes on a message of another server. */
    pass(topic: string, text: string, from: string): void {
      for (const call of heard.get(topic) ?? []) call(text, from)
    },
    /** Says that messages may have been missed. */
    missed(): void {
      for (const call of new Set([...heard.values()].flat())) call(undefined, '')
    },
  }
}

/** PostgreSQL passes on less than 8,000 bytes at once. */
export const TEXT_BYTES_MAX = 7_000

/** Sends values as JSON, in as few texts as they fit in. */
export function sendAll(peers: Pick<Peers, 'send'>, topic: Topic, values: readonly unknown[]): void {
  let texts: string[] = []
  let bytes = 0
  const send = (): void => {
    if (texts.length > 0) peers.send(topic, `[${texts.join(',')}]`)
    texts = []
    bytes = 0
  }
  for (const text of values.map((value) => JSON.stringify(value))) {
    const more = Buffer.byteLength(text) + 1
    if (bytes + more > TEXT_BYTES_MAX) send()
    texts.push(text)
    bytes += more
  }
  send()
}

/** The values that `sendAll` has sent; none where another version has sent something else. */
export function valuesIn<Value>(text: string, schema: z.ZodType<Value>): Value[] {
  try {
    return z.array(schema).parse(JSON.parse(text))
  } catch {
    return []
  }
}

/** A request of another server may still use what is younger than this: it may take hours to send its body. */
const ABANDONED_MS = 24 * 3_600_000

/** What requests began before this time, in milliseconds since 1970, and did not end, was left behind by a crash. */
export function abandonedBefore({ arePossible }: Pick<Peers, 'arePossible'>): number {
  return arePossible ? Date.now() - ABANDONED_MS : Date.now()
}

/** Where this is the only server. */
export const NO_PEERS: Peers = {
  arePossible: false,
  self: '',
  onChange: () => undefined,
  send: () => undefined,
  onMessage: () => undefined,
}
