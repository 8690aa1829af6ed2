import { LRUCache } from 'lru-cache'
import { tooLarge, tooManyRequests } from '../../errors.ts'
import type { Caller } from '../../http/caller.ts'
import type { CallerLimits, RequestLimits } from '../../http/caller-limits.ts'
import type { QueryLimits } from '../../query-limits.ts'
import { type RateLimitState, rateLimitHeaders, rateLimitState } from '../../rate-limit-headers.ts'
import type { SharedUse } from '../../shared-use.ts'
import { createTokenBucket, type TokenBucket } from '../../token-bucket.ts'
import type { LimitBook, LimitedKind, Limits } from './limit-book.ts'
import type { StorageUse } from './storage-use.ts'

/** Keys and entities with a limit of requests whose recent ones are remembered. */
const BUCKETS_MAX = 10_000

/** Whose limits one request is under. */
interface Subject {
  kind: LimitedKind
  name: string
  /** For messages. */
  whose: string
}

/** The limits of keys, and of the entities that requests are about, as the front of the server applies them. */
export function createCallerLimits({
  book,
  storage,
  sharedUse,
}: {
  book: LimitBook
  storage: StorageUse
  sharedUse: Pick<SharedUse, 'counter'>
}): CallerLimits {
  const buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS_MAX })

  function bucketOf({ kind, name }: Pick<Subject, 'kind' | 'name'>): TokenBucket {
    const id = `${kind}:${name}`
    const perMinute = () => book.of(kind, name).requests_per_minute ?? Number.POSITIVE_INFINITY
    const bucket = buckets.get(id) ?? createTokenBucket(perMinute)
    buckets.set(id, bucket)
    return bucket
  }

  const tellOthers = sharedUse.counter('requests', (id, requests) => {
    const kind = id.startsWith('key:') ? 'key' : 'entity'
    bucketOf({ kind, name: id.slice(kind.length + 1) }).use(requests)
  })

  function open({ keyId }: Pick<Caller, 'keyId'>): RequestLimits {
    const key: Subject = { kind: 'key', name: keyId, whose: 'this key' }
    const subjects = keyId === '' ? [] : [key]
    const others: Record<string, string> = {}

    /** @throws 429 */
    function count(subject: Subject): void {
      const limit = limitsOf(subject).requests_per_minute
      if (limit === undefined) return
      const bucket = bucketOf(subject)
      if (bucket.left() >= 1) {
        bucket.use(1)
        tellOthers(`${subject.kind}:${subject.name}`, 1)
        return
      }
      const retrySeconds = Math.max(1, Math.ceil(bucket.msUntil(1) / 1000))
      throw tooManyRequests(
        `The limit of ${subject.whose} is ${limit} requests a minute: try again in ${retrySeconds} s`,
        retrySeconds,
      )
    }

    const limitsOf = ({ kind, name }: Subject): Limits => book.of(kind, name)

    return {
      begin: () => subjects.forEach(count),

      bodyBytesMax:
        keyId === '' ? Number.POSITIVE_INFINITY : (limitsOf(key).body_bytes ?? Number.POSITIVE_INFINITY),

      forEntity(name, bytes = 0) {
        if (subjects.some((subject) => subject.kind === 'entity' && subject.name === name)) return
        const subject: Subject = { kind: 'entity', name, whose: name }
        subjects.push(subject)
        count(subject)
        const { body_bytes } = limitsOf(subject)
        if (body_bytes !== undefined && bytes > body_bytes)
          throw tooLarge(
            `The request has ${bytes} bytes, and the limit of ${name} is ${body_bytes}: send less at once`,
          )
      },

      stores: storage.add,
      uploads: storage.upload,
      queries: () => queryLimitsOf(subjects.map((subject) => ({ ...subject, ...limitsOf(subject) }))),

      setHeader(name, value) {
        others[name] = value
      },

      headers() {
        const limited = subjects.filter((subject) => limitsOf(subject).requests_per_minute !== undefined)
        return { ...rateLimitHeaders('requests', limited.map(stateOf)), ...others }
      },
    }

    function stateOf(subject: Subject): RateLimitState {
      return rateLimitState(bucketOf(subject), limitsOf(subject).requests_per_minute ?? 0)
    }
  }

  return { open }
}

/** The narrowest limits of queries among those of all subjects. */
function queryLimitsOf(subjects: readonly (Subject & Limits)[]): QueryLimits | undefined {
  const limited = subjects.filter(
    ({ query_seconds, query_rows }) => query_seconds !== undefined || query_rows !== undefined,
  )
  if (limited.length === 0) return undefined
  return {
    whose: limited.map(({ whose }) => whose).join(' or '),
    msMax: Math.min(...limited.map(({ query_seconds = Number.POSITIVE_INFINITY }) => query_seconds * 1000)),
    rowsMax: Math.min(...limited.map(({ query_rows = Number.POSITIVE_INFINITY }) => query_rows)),
  }
}
