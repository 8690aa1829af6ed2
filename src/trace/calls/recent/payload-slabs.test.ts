import { describe, expect, it } from 'vitest'
import { seeded } from '../../../test-random.ts'
import { createPayloadSlabs, type Place, payloadsAt } from './payload-slabs.ts'

const MIB = 1024 * 1024

const textsAt = (place: Place): string[] => payloadsAt(place).map((bytes) => bytes.toString())

describe('payloads in slabs', () => {
  it.each([1, 2, 3])('are as they were written, and take little more than their bytes, seed %i', (seed) => {
    const random = seeded(seed)
    const slabs = createPayloadSlabs()
    const written: { place: Place; texts: string[] }[] = []
    let most = 0
    for (let step = 0; step < 3000; step++) {
      // Grows to some megabytes, and shrinks again.
      if (random() < (step < 2000 ? 0.8 : 0.2) || written.length === 0) {
        const size = random() < 0.01 ? 250_000 : 500
        const texts = [1, 2, 3, 4].map((at) => 'é'.repeat(random() * size * (at % 2)))
        written.push({ place: slabs.write(texts, { isEnded: random() < 0.5 }), texts })
      } else {
        const [oldest] = written.splice(random() < 0.95 ? 0 : Math.floor(random() * 9), 1)
        if (oldest !== undefined) slabs.free(oldest.place)
      }
      const bytes = written.flatMap(({ texts }) => texts).reduce((sum, text) => sum + 2 * text.length, 0)
      most = Math.max(most, slabs.bytes() / (bytes + 2 * MIB))
      if (step % 300 === 0) for (const { place, texts } of written) expect(textsAt(place)).toEqual(texts)
    }
    expect(most).toBeLessThan(1.6)
    for (const { place } of written) slabs.free(place)
    expect(slabs.bytes()).toBe(0)
  })

  it('of a call may be replaced by others made of them', () => {
    const slabs = createPayloadSlabs()
    let place = slabs.write(['{}', '', '', ''], { isEnded: false })
    for (let part = 0; part < 100; part++) {
      const [first = '', ...others] = payloadsAt(place)
      const next = slabs.write([first, `${part}`.repeat(1000), ...others.slice(1)], { isEnded: part > 50 })
      slabs.free(place)
      place = next
    }
    expect(textsAt(place)).toEqual(['{}', '99'.repeat(1000), '', ''])
    expect(slabs.bytes()).toBeLessThan(16 * 1024)
  })

  it('of calls that end later take little more than their bytes', () => {
    const slabs = createPayloadSlabs()
    const [inputs, output] = ['i'.repeat(1200), 'o'.repeat(300)]
    const open: Place[] = []
    for (let call = 0; call < 10_000; call++) {
      open.push(slabs.write(['{}', inputs, '', ''], { isEnded: false }))
      const [first] = open.length > 300 ? open.splice(0, 1) : []
      if (first === undefined) continue
      const [attributes = '', stored = ''] = payloadsAt(first)
      slabs.write([attributes, stored, output, '{}'], { isEnded: true })
      slabs.free(first)
    }
    expect(slabs.bytes()).toBeLessThan(1.1 * 10_000 * (inputs.length + output.length) + 2 * MIB)
  })
})
