import { beforeAll, describe, expect, it } from 'vitest'
import { documentsOf, type Fields, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import { TRUNCATED_BYTES, TRUNCATED_ELEMENTS } from '../sql/truncated.ts'

const server = useTestServer()

const BEGINNING = 'b'.repeat(TRUNCATED_BYTES)
const ELEMENTS = Array.from({ length: TRUNCATED_ELEMENTS * 2 }, () => 1)

/** Texts just below and above the length at which copies are truncated, many with the same beginning. */
const TEXTS = [
  'a',
  '',
  'b',
  BEGINNING,
  BEGINNING.slice(1),
  `${BEGINNING}b`,
  `${BEGINNING}a`,
  `${BEGINNING}c`,
  `a${'é'.repeat(TRUNCATED_BYTES)}`,
  `c\n"\\${'😀'.repeat(TRUNCATED_BYTES)}`,
  '7',
  `0.${'0'.repeat(TRUNCATED_BYTES)}5`,
  `1${'0'.repeat(TRUNCATED_BYTES)}`,
  'true',
]
const VALUES: unknown[] = [...TEXTS, 7, true, null, ELEMENTS, [...ELEMENTS, 2], { [BEGINNING]: 1, b: TEXTS }]

describe('POST /calls/stream_query by payloads of which the database reads truncated copies', () => {
  let project: string
  const field = { $getField: 'inputs.value' }

  beforeAll(async () => {
    project = server.newProject()
    await writeCalls(
      server,
      project,
      VALUES.map((value, at) => finishedCall({ inputs: { at, value, list: [value] } })),
    )
  })

  async function found(request: Fields): Promise<number[]> {
    const calls: Fields[] = await documentsOf(
      await server.post('/calls/stream_query', { project_id: project, ...request }),
    )
    return calls.map(({ inputs }) => Number((inputs as Fields)['at']))
  }

  /** Those whose text a test in JavaScript chooses; the texts of other values do not matter here. */
  const textsWhere = (test: (text: string) => boolean): number[] =>
    TEXTS.flatMap((text, at) => (test(text) ? [at] : []))

  const bytesOf = (text: string): Buffer => Buffer.from(text)

  it.each(TEXTS.map((text) => [text]))('200 compared with each text: %.20j', async (text) => {
    const compared = async (operator: string): Promise<number[]> => {
      const all = await found({ query: { $expr: { [operator]: [field, { $literal: text }] } } })
      return all.filter((at) => at < TEXTS.length)
    }
    expect(await compared('$eq')).toEqual(textsWhere((other) => other === text))
    expect(await compared('$gt')).toEqual(textsWhere((other) => bytesOf(other).compare(bytesOf(text)) > 0))
    expect(await compared('$lte')).toEqual(textsWhere((other) => bytesOf(other).compare(bytesOf(text)) <= 0))
    const isIn = { $in: [field, [{ $literal: text }, { $literal: 'no such text' }]] }
    const among = await found({ query: { $expr: isIn } })
    expect(among.filter((at) => at < TEXTS.length)).toEqual(textsWhere((other) => other === text))
    const contains = { $contains: { input: field, substr: { $literal: text.slice(-40) } } }
    const containing = (await found({ query: { $expr: contains } })).filter((at) => at < TEXTS.length)
    expect(containing).toEqual(textsWhere((other) => other.includes(text.slice(-40))))
  })

  it('200 as numbers, however many digits they have', async () => {
    const double = { $convert: { input: field, to: 'double' } }
    const isNumber = TEXTS.map((text) => text !== '' && Number.isFinite(Number(text)))
    const numbers = await found({ query: { $expr: { $gt: [double, { $literal: 0 }] } } })
    expect(numbers.filter((at) => at < TEXTS.length)).toEqual(isNumber.flatMap((is, at) => (is ? [at] : [])))
    expect(await found({ query: { $expr: { $lt: [double, { $literal: 1 }] } } })).toEqual(
      textsWhere((text) => text.startsWith('0.')),
    )
    const int = { $convert: { input: field, to: 'int' } }
    expect(await found({ query: { $expr: { $eq: [int, { $literal: 7 }] } } })).toHaveLength(2)
    const exists = { $convert: { input: field, to: 'exists' } }
    expect(await found({ query: { $expr: { $and: [exists] } } })).toHaveLength(VALUES.length - 1)
  })

  it.each(['asc', 'desc'])('200 in the order of the whole texts, %s', async (direction) => {
    const sort_by = [{ field: 'inputs.value', direction }]
    const isText = { $lt: [{ $getField: 'inputs.at' }, { $literal: TEXTS.length }] }
    const query = { $expr: isText }
    const order = await found({ sort_by, query })
    const words = order.map((at) => TEXTS[at] ?? '').filter((text) => !/^[\d.]+$/.test(text))
    const sorted = words.toSorted((a, b) => bytesOf(a).compare(bytesOf(b)))
    expect(words).toEqual(direction === 'asc' ? sorted : sorted.toReversed())
    expect(words).toHaveLength(TEXTS.length - 3)
    for (let offset = 0; offset < order.length; offset++)
      expect(await found({ sort_by, query, offset, limit: 2 })).toEqual(order.slice(offset, offset + 2))
  })

  it('200 for elements and members beyond the truncated copy', async () => {
    const two = VALUES.findIndex((value) => Array.isArray(value) && value.at(-1) === 2)
    const last = { $getField: `inputs.value.${ELEMENTS.length}` }
    expect(await found({ query: { $expr: { $eq: [last, { $literal: 2 }] } } })).toEqual([two])
    const member = { $getField: `inputs.value.${BEGINNING}` }
    expect(await found({ query: { $expr: { $eq: [member, { $literal: 1 }] } } })).toEqual([VALUES.length - 1])
    const whole = { $eq: [field, { $literal: JSON.stringify(ELEMENTS) }] }
    expect(await found({ query: { $expr: whole } })).toEqual([two - 1])
    expect(await found({ query: { $expr: { $eq: [field, { $getField: 'inputs.list.0' }] } } })).toHaveLength(
      VALUES.length,
    )
  })
})
