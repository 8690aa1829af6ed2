import type { Limits } from '../../config.ts'
import { tooManyRequests } from '../../errors.ts'

/** Requests in progress or waiting. */
const IN_FLIGHT_MAX = 2_048

/** Retry-After, in seconds: most answers in progress have finished by then. */
const RETRY_SECONDS = 2

/** Meters kept in memory; beyond it, meters without usage are dropped. */
const METERS_MAX = 10_000

/** The key and project that a request counts for. */
export interface Payer {
  key: string
  /** `entity/project`; undefined when the request names none. */
  project: string | undefined
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

/** Admission control: a bound for all requests, and limits for each key and each project. */
export interface Admission {
  /** Requests admitted, and the maximum. */
  load(): Load
  /** @throws 429 with the numbers. */
  enter(payer: Payer): Place
}

export function createAdmission(limits: { key: Limits; project: Limits }): Admission {
  const ofKeys = createMeters('This key', limits.key)
  const ofProjects = createMeters('This project', limits.project)
  let inFlight = 0

  function enter({ key, project }: Payer): Place {
    if (inFlight >= IN_FLIGHT_MAX) {
      const message = `The server is answering ${inFlight} requests, which is its limit of ${IN_FLIGHT_MAX}`
      throw tooManyRequests(message, RETRY_SECONDS)
    }
    const meters = [ofKeys.meter(key), ...(project === undefined ? [] : [ofProjects.meter(project)])]
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

  return { load: () => ({ in_flight: inFlight, in_flight_max: IN_FLIGHT_MAX }), enter }
}

interface Meter {
  check(): void
  enter(): void
  leave(tokens: number): void
  isIdle(): boolean
}

interface Meters {
  meter(name: string): Meter
}

function createMeters(whose: string, limits: Limits): Meters {
  const meters = new Map<string, Meter>()

  function meter(name: string): Meter {
    let meter = meters.get(name)
    if (meter === undefined) {
      if (meters.size >= METERS_MAX) {
        for (const [idle, candidate] of meters) if (candidate.isIdle()) meters.delete(idle)
      }
      meter = createMeter(whose, limits)
      meters.set(name, meter)
    }
    return meter
  }

  return { meter }
}

/**
 * Counts what runs, and keeps tokens in a bucket that refills within a minute. The cost of a request is known at its
 * end, so the bucket may go below zero; requests are then refused until it is above.
 */
function createMeter(whose: string, { requestsMax, tokensPerMinute }: Limits): Meter {
  let running = 0
  let tokens = tokensPerMinute
  let filledAt = performance.now()

  function refill(): void {
    const now = performance.now()
    tokens = Math.min(tokensPerMinute, tokens + ((now - filledAt) / 60_000) * tokensPerMinute)
    filledAt = now
  }

  return {
    check() {
      if (running >= requestsMax) {
        throw tooManyRequests(
          `${whose} has ${running} requests running, and its limit is ${requestsMax}`,
          RETRY_SECONDS,
        )
      }
      if (tokensPerMinute === Number.POSITIVE_INFINITY) return
      refill()
      if (tokens > 0) return
      const used = Math.round(tokensPerMinute - tokens)
      throw tooManyRequests(
        `${whose} has used ${used} tokens within a minute, and its limit is ${tokensPerMinute}`,
        Math.ceil(((1 - tokens) / tokensPerMinute) * 60),
      )
    },
    enter() {
      running++
    },
    leave(spent) {
      running--
      if (tokensPerMinute === Number.POSITIVE_INFINITY) return
      refill()
      tokens -= spent
    },
    isIdle() {
      if (tokensPerMinute !== Number.POSITIVE_INFINITY) refill()
      return running === 0 && tokens === tokensPerMinute
    },
  }
}
