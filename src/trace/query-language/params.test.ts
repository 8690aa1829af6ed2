import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../../stores/trace-db/embedded/embedded.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { SILENT } from '../../test-log.ts'
import { createParams } from './params.ts'

let db: TraceDb

beforeAll(async () => {
  db = await openEmbedded(await mkdtemp(join(tmpdir(), 'heddle-params-')), SILENT)
})
afterAll(() => db[Symbol.asyncDispose]())

const ODD = ['', ' ', `'"\\\n\t\u0000`, 'ü 😀', '\\u0000', '[1, null]', '\u2028', 'half \ud800']

const textsOf = (count: number, chars: number): string[] =>
  Array.from({ length: count }, (_, index) => `${'x'.repeat(chars)}${index}`)

/** Whether a text is in a set, for a single value and for one of many. */
async function isIn(text: string, texts: readonly string[]) {
  const params = createParams()
  const set = params.bindTexts(texts)
  const value = params.bind(text, 'String')
  const sql = `SELECT materialize(${value}) AS value, value IN ${set} AS alone,
    arrayExists(one -> ifNull(one IN ${set}, 0), ['other', value]) AS among`
  const row = await firstOf(db.query<{ alone: number; among: number }>({ sql, params: params.values }))
  return { set, found: [row?.alone, row?.among] }
}

describe('bindTexts', () => {
  it.each([
    ['few texts', []],
    ['many texts', textsOf(20_000, 10)],
    ['few texts that are long', textsOf(10, 100_000)],
  ])('%s: finds what is in the set, whatever stands in it, and nothing else', async (_, others) => {
    const texts = [...others, ...ODD]
    for (const text of [...ODD, ...others.slice(0, 1)]) {
      expect((await isIn(text, texts)).found, JSON.stringify(text)).toEqual([1, 1])
    }
    expect((await isIn('nowhere', texts)).found).toEqual([0, 0])
  })

  it('binds many or long texts as a subquery, which is faster than a list', async () => {
    expect((await isIn('a', textsOf(20_000, 40))).set).toMatch(/^\(SELECT /)
    expect((await isIn('a', textsOf(20, 40_000))).set).toMatch(/^\(SELECT /)
  })

  it('400 and 413 for more than a query may hold', () => {
    expect(() => createParams().bindTexts(textsOf(50_001, 1))).toThrow(
      expect.objectContaining({ status: 400 }),
    )
    const params = createParams()
    params.bindTexts(textsOf(2, 1_500_000))
    expect(() => params.bindTexts(textsOf(2, 1_500_000))).toThrow(expect.objectContaining({ status: 413 }))
  })
})

describe('bindProject', () => {
  it('binds the first project as the owner of the query, and other projects as values', () => {
    const params = createParams()
    expect([params.bindProject('a/b'), params.bindProject('a/b'), params.bindProject('c/d')]).toEqual([
      '{project_id:String}',
      '{project_id:String}',
      '{v0:String}',
    ])
    expect(params.values).toEqual({ project_id: 'a/b', v0: 'c/d' })
  })
})
