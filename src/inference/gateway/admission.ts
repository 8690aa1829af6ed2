import type { Limits } from '../../config.ts'
import { tooManyRequests } from '../../errors.ts'
import { createSharedSlots } from '../../fairness/shared-slots.ts'
import { type RateLimitState, rateLimitState } from '../../rate-limit-headers.ts'
import type { SharedUse } from '../../shared-use.ts'
import { createTokenBucket } from '../../token-bucket.ts'

/**
 * Requests in progress or waiting, of which each entity may have a share: those of one must not keep others from the
 * fair queue.
 */
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
export interface Admitted {
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
  /** @throws 429 with the numbers: beyond a limit, or the entity's share of all requests */
  enter(payer: Payer): Admitted
  /** What is left of each limit of tokens a minute. */
  tokens(payer: Payer): RateLimitState[]
}

/** @param sharedUse what other servers admit counts for the limits of keys, projects and entities as well */
export function createAdmission(limitsOf: LimitsOf, sharedUse: SharedUse): Admission {
  const kinds = {
    key: createMeters('This key', limitsOf.key, metering('key')),
    project: createMeters('This project', limitsOf.project, metering('project')),
    entity: createMeters('This team', limitsOf.entity, metering('entity')),
  }
  const { key: ofKeys, project: ofProjects, entity: ofEntities } = kinds
  const tellOthers = sharedUse.counter('tokens', (id, tokens) => {
    const kind = KINDS.find((one) => id.startsWith(`${one}:`))
    if (kind !== undefined) kinds[kind].meter(id.slice(kind.length + 1)).usedElsewhere(tokens)
  })
  const slots = createSharedSlots(IN_FLIGHT_MAX)

  function metering(kind: keyof LimitsOf): (name: string) => Elsewhere {
    return (name) => ({
      running: () => sharedUse.gauge.elsewhere(`${kind}:${name}`),
      setRunning: (running) => sharedUse.gauge.set(`${kind}:${name}`, running),
      used: (tokens) => tellOthers(`${kind}:${name}`, tokens),
    })
  }

  function metersOf({ key, project, entity }: Payer): Meter[] {
    const ofProject = project === undefined ? [] : [ofProjects.meter(project)]
    return [ofKeys.meter(key), ...ofProject, ofEntities.meter(entity)]
  }

  function noSlot(entity: string): Error {
    const running = `The server is answering ${slots.taken()} requests, ${slots.heldBy(entity)} of them of ${entity}`
    const share = `its limit is ${IN_FLIGHT_MAX}, and it keeps some slots for other teams`
    return tooManyRequests(`${running}: ${share}`, RETRY_SECONDS)
  }

  function enter(payer: Payer): Admitted {
    const meters = metersOf(payer)
    for (const meter of meters) meter.check()
    const leaveSlot = slots.take(payer.entity)
    if (leaveSlot === undefined) throw noSlot(payer.entity)
    for (const meter of meters) meter.enter()
    return {
      leave(tokens) {
        leaveSlot()
        for (const meter of meters) meter.leave(tokens)
      },
    }
  }

  return {
    load: () => ({ in_flight: slots.taken(), in_flight_max: IN_FLIGHT_MAX }),
    enter,
    tokens: (payer) => metersOf(payer).flatMap((meter) => meter.tokens() ?? []),
  }
}

const KINDS = ['key', 'project', 'entity'] as const

/** The same limit on the other servers. */
interface Elsewhere {
  /** Requests that run there. */
  running(): number
  /** Tells them how many run here. */
  setRunning(running: number): void
  /** Tells them what was used here. */
  used(tokens: number): void
}

interface Meter {
  check(): void
  enter(): void
  leave(tokens: number): void
  usedElsewhere(tokens: number): void
  tokens(): RateLimitState | undefined
  isIdle(): boolean
}

interface Meters {
  meter(name: string): Meter
}

function createMeters(
  whose: string,
  limitsOf: (name: string) => Limits,
  elsewhereOf: (name: string) => Elsewhere,
): Meters {
  const meters = new Map<string, Meter>()

  function meter(name: string): Meter {
    let meter = meters.get(name)
    if (meter === undefined) {
      if (meters.size >= METERS_MAX) {
        for (const [idle, candidate] of meters) if (candidate.isIdle()) meters.delete(idle)
      }
      meter = createMeter(whose, () => limitsOf(name), elsewhereOf(name))
      meters.set(name, meter)
    }
    return meter
  }

  return { meter }
}

/** Counts what runs, and the tokens of a minute. The cost of a request is known at its end. */
function createMeter(whose: string, limits: () => Limits, elsewhere: Elsewhere): Meter {
  const tokens = createTokenBucket(() => limits().tokensPerMinute)
  let running = 0
  let toldRunning = 0

  /**
   * Other servers need the number under a limit alone; one that ends while requests run leaves nothing behind there.
   */
  function setRunning(count: number): void {
    running = count
    const told = limits().requestsMax === Number.POSITIVE_INFINITY ? 0 : running
    if (told !== toldRunning) elsewhere.setRunning(told)
    toldRunning = told
  }

  return {
    check() {
      const { requestsMax, tokensPerMinute } = limits()
      const all = running + elsewhere.running()
      if (all >= requestsMax) {
        throw tooManyRequests(
          `${whose} has ${all} requests running, and its limit is ${requestsMax}: wait until one has ended`,
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
    enter: () => setRunning(running + 1),
    leave(spent) {
      setRunning(running - 1)
      tokens.use(spent)
      if (limits().tokensPerMinute !== Number.POSITIVE_INFINITY) elsewhere.used(spent)
    },
    usedElsewhere: (spent) => tokens.use(spent),
    tokens() {
      const limit = limits().tokensPerMinute
      if (limit === Number.POSITIVE_INFINITY) return undefined
      return rateLimitState(tokens, limit)
    },
    isIdle: () => running === 0 && tokens.isUnused(),
  }
}
