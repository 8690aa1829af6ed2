import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Limits } from '../../config.ts'
import { ClientError } from '../../errors.ts'
import { createSharedUse } from '../../shared-use.ts'
import { NO_PEERS } from '../../stores/control-db/peers.ts'
import { createAdmission } from './admission.ts'

const NONE: Limits = { requestsMax: Number.POSITIVE_INFINITY, tokensPerMinute: Number.POSITIVE_INFINITY }

function admissionOf({ key, project }: { key: Limits; project: Limits }) {
  return createAdmission(
    { key: () => key, project: () => project, entity: () => NONE },
    createSharedUse(NO_PEERS),
  )
}

function refusal(work: () => unknown): ClientError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error instanceof ClientError ? error : undefined
  }
}

describe('createAdmission', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => vi.useRealTimers())

  it('429 for more requests at once than a key may have, until one ends', () => {
    const { enter } = admissionOf({ key: { ...NONE, requestsMax: 2 }, project: NONE })
    const [first] = [
      enter({ key: 'a', entity: 'e', project: 'e/p' }),
      enter({ key: 'a', entity: 'e', project: undefined }),
    ]
    const refused = refusal(() => enter({ key: 'a', entity: 'e', project: 'e/p' }))
    expect(refused).toMatchObject({ status: 429, message: expect.stringMatching(/key.* 2 .*limit is 2/) })
    enter({ key: 'b', entity: 'e', project: 'e/p' })
    first.leave(0)
    enter({ key: 'a', entity: 'e', project: 'e/p' })
  })

  it('429 for a project with any of its keys, and a refused request takes no place', () => {
    const { enter } = admissionOf({ key: NONE, project: { ...NONE, requestsMax: 1 } })
    const place = enter({ key: 'a', entity: 'e', project: 'e/p' })
    for (const key of ['a', 'b'])
      expect(refusal(() => enter({ key, entity: 'e', project: 'e/p' }))?.status).toBe(429)
    enter({ key: 'b', entity: 'e', project: 'e/other' })
    place.leave(0)
    enter({ key: 'b', entity: 'e', project: 'e/p' })
  })

  it('429 for an entity with most of all requests, and not for others', () => {
    const { enter, load } = admissionOf({ key: NONE, project: NONE })
    const one = { key: 'a', entity: 'one', project: undefined }
    let refused: ClientError | undefined
    while (refused === undefined) refused = refusal(() => enter(one))
    expect(load()).toEqual({ in_flight: 1639, in_flight_max: 2048 })
    expect(refused).toMatchObject({
      status: 429,
      message: expect.stringMatching(/1639 requests, 1639 .*one/),
    })
    enter({ key: 'b', entity: 'other', project: undefined }).leave(0)
  })

  it('429 after more tokens than a minute allows, with Retry-After', () => {
    const { enter } = admissionOf({ key: { ...NONE, tokensPerMinute: 600 }, project: NONE })
    enter({ key: 'a', entity: 'e', project: undefined }).leave(700)
    const refused = refusal(() => enter({ key: 'a', entity: 'e', project: undefined }))
    expect(refused?.message).toMatch(/700 tokens.*600/)
    expect(refused?.retryAfterSeconds).toBe(11)
    vi.advanceTimersByTime(11_000)
    enter({ key: 'a', entity: 'e', project: undefined })
  })

  it('leaves nothing on other servers when a limit ends while requests run', () => {
    const told = new Map<string, number>()
    const gauge = { set: (name: string, count: number) => void told.set(name, count), elsewhere: () => 0 }
    let key: Limits = { ...NONE, requestsMax: 3 }
    const { enter } = createAdmission(
      { key: () => key, project: () => NONE, entity: () => NONE },
      { ...createSharedUse(NO_PEERS), gauge },
    )
    const places = [1, 2].map(() => enter({ key: 'a', entity: 'e', project: 'e/p' }))
    expect(told).toEqual(new Map([['key:a', 2]]))
    key = NONE
    for (const place of places) place.leave(0)
    expect(told).toEqual(new Map([['key:a', 0]]))
  })

  it('429 for everybody when too much runs', () => {
    const { enter } = admissionOf({ key: NONE, project: NONE })
    // The last that comes finds one place.
    for (let i = 0; i < 2048; i++) enter({ key: 'a', entity: String(i), project: undefined })
    expect(refusal(() => enter({ key: 'a', entity: 'e', project: undefined }))?.message).toContain('2048')
  })
})
