import { describe, expect, it } from 'vitest'
import { createSpeeds } from './speeds.ts'

const answer = (ms: number, tokens: number, firstAt?: number) => ({
  startedAt: 1000,
  firstAt,
  endedAt: 1000 + ms,
  completion_tokens: tokens,
})

describe('createSpeeds', () => {
  it('reports the median and the 95th percentile of the newest answers, streams apart', () => {
    const speeds = createSpeeds()
    for (let ms = 1; ms <= 100; ms++) speeds.record('model', answer(ms, ms))
    speeds.record('model', answer(100, 0, 1020))
    expect(speeds.of('model')).toEqual({
      answers: 101,
      duration_ms: { p50: 51, p95: 96 },
      time_to_first_token_ms: { p50: 20, p95: 20 },
      tokens_per_second: { p50: 1000, p95: 1000 },
    })
    expect(speeds.of('nobody')).toBeUndefined()
  })

  it('remembers a bounded number of answers and of models', () => {
    const speeds = createSpeeds()
    for (let n = 0; n < 1000; n++) speeds.record('asked again', answer(n, 1))
    expect(speeds.of('asked again')).toMatchObject({ answers: 128, duration_ms: { p50: 935 } })
    for (let n = 0; n < 256; n++) speeds.record(String(n), answer(1, 1))
    expect(speeds.of('asked again')).toBeUndefined()
    expect(speeds.of('255')).toBeDefined()
  })
})
