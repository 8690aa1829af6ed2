import type { Limits } from '../../config.ts'
import { tooManyRequests } from '../../errors.ts'
import { type RateLimitState, rateLimitState } from '../../rate-limit-headers.ts'
import { createTokenBucket } from '../../token-bucket.ts'

/** Requests in progress or waiting. */
const IN_FLIGHT_MAX = 2_048

/** Retry-After, in seconds: most answers in progress have finished by then. */
const RETRY_SECONDS = 2

/** Meters kept in memory; beyond it, meters without usage are dropped. */
const METERS_MAX = 10_000

/** The key, project and entity that a request counts for. */
export interface Payer {
  key: string
  /** `entity/project`; undefined when the request names none. */
  project: string | undefined
  entity: string
}

/** An admitted request. */
export interface Place {
  /** Ends the request and counts the tokens it used. */
  leave(tokens: number): void
}

export interface Load {
  in_flight: number
  in_flight_max: number
}

/** What each key, project and entity may use; asked anew for each request, so that changes hold at once. */
export type LimitsOf = Record<'key' | 'project' | 'entity', (name: string) => Limits>

/** Admission control: a bound for all requests, and limits for each key, project and entity. */
export interface Admission {
  /** Requests admitted, and the maximum. */
  load(): Load
  /** @throws 429 with the numbers. */
  enter(payer: Payer): Place
  /** What is left of each limit of tokens a minute. */
  tokens(payer: Payer): RateLimitState[]
}

export function createAdmission(limitsOf: LimitsOf): Admission {
  const ofKeys = createMeters('This key', limitsOf.key)
  const ofProjects = createMeters('This project', limitsOf.project)
  const ofEntities = createMeters('This team', limitsOf.entity)
  let inFlight = 0

  function metersOf({ key, project, entity }: Payer): Meter[] {
    const ofProject = project === undefined ? [] : [ofProjects.meter(project)]
    return [ofKeys.meter(key), ...ofProject, ofEntities.meter(entity)]
  }

  function enter(payer: Payer): Place {
    if (inFlight >= IN_FLIGHT_MAX) {
      const message = `The server is answering ${inFlight} requests, which is its limit of ${IN_FLIGHT_MAX}`
      throw tooManyRequests(message, RETRY_SECONDS)
    }
    const meters = metersOf(payer)
    for (const meter of meters) meter.check()
    for (const meter of meters) meter.enter()
    inFlight++
    return {
      leave(tokens) {
        inFlight--
        for (const meter of meters) meter.leave(tokens)
      },
    }
  }

  return {
    load: () => ({ in_flight: inFlight, in_flight_max: IN_FLIGHT_MAX }),
    enter,
    tokens: (payer) => metersOf(payer).flatMap((meter) => meter.tokens() ?? []),
  }
}

interface Meter {
  check(): void
  enter(): void
  leave(tokens: number): void
  tokens(): RateLimitState | undefined
  isIdle(): boolean
}

interface Meters {
  meter(name: string): Meter
}

function createMeters(whose: string, limitsOf: (name: string) => Limits): Meters {
  const meters = new Map<string, Meter>()

  function meter(name: string): Meter {
    let meter = meters.get(name)
    if (meter === undefined) {
      if (meters.size >= METERS_MAX) {
        for (const [idle, candidate] of meters) if (candidate.isIdle()) meters.delete(idle)
      }
      meter = createMeter(whose, () => limitsOf(name))
      meters.set(name, meter)
    }
    return meter
  }

  return { meter }
}

/** Counts what runs, and the tokens of a minute. The cost of a request is known at its end. */
function createMeter(whose: string, limits: () => Limits): Meter {
  const tokens = createTokenBucket(() => limits().tokensPerMinute)
  let running = 0

  return {
    check() {
      const { requestsMax, tokensPerMinute } = limits()
      if (running >= requestsMax) {
        throw tooManyRequests(
          `${whose} has ${running} requests running, and its limit is ${requestsMax}: wait until one has ended`,
          RETRY_SECONDS,
        )
      }
      const left = tokens.left()
      if (left > 0) return
      const retrySeconds = Math.ceil(tokens.msUntil(1) / 1000)
      throw tooManyRequests(
        `${whose} has used ${Math.round(tokensPerMinute - left)} tokens within a minute, and its limit is ${tokensPerMinute}: try again in ${retrySeconds} s`,
        retrySeconds,
      )
    },
    enter() {
      running++
    },
    leave(spent) {
      running--
      tokens.use(spent)
    },
    tokens() {
      const limit = limits().tokensPerMinute
      if (limit === Number.POSITIVE_INFINITY) return undefined
      return rateLimitState(tokens, limit)
    },
    isIdle: () => running === 0 && tokens.isUnused(),
  }
}
