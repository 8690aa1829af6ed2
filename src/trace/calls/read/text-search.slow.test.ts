import { beforeAll, describe, expect, it } from 'vitest'
import { firstOf, rowsOf } from '../../../stores/trace-db/port.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import { countCalls, selectsPrefiltered } from './queries.ts'

const server = useTestServer()

/** More calls than a prefilter may find, so that common texts are searched otherwise. */
const CALLS = 260

/** Texts in odd places and spellings; each call has one of them, and a number. */
const TEXTS = [
  'a quokka smiled',
  'A Quokka Smiled',
  'quokkas',
  'the requokkable',
  'line\nquokka\tend',
  'quo kka',
  'naïve Quokka café',
  'ÜBER über Straße',
  '100 % _quokka_ \\ "quoted"',
  'error-4711.5',
  'ok',
  '',
  'K smiled', // the Kelvin sign, whose lower case is k
  '日本語 quokka 日本語',
  'the quick_brown fox/jumps "over" 12 lazy dogs\\now',
  'the quick_brownish fox/jumps "over" 12 lazy dogs\\now',
  'über brown-foxes and éclair jumps over it all',
]

const PATTERNS = [
  ...[
    'quokka',
    'Quokka',
    'quokka smiled',
    'uokk',
    'ok',
    'k smiled',
    'absent',
    'common',
    'error-4711.5',
    '4711',
  ],
  ...[
    'naïve',
    'ÜBER',
    '_quokka_',
    '% _',
    '"quoted"',
    'line\nquokka',
    '日本語',
    'nquokka',
    'escaped word',
    ' ',
    'quick_brown fox',
    'he quick_brown fox',
    ' 12 LAZY d',
    'he QUICK_brown f',
    '-foxes and éclair jumps ',
    ' and over it ',
    ' jumps over it all common ',
  ],
]

const textOf = (at: number): string => `${TEXTS[at % TEXTS.length]} common ${at}`

/** A text without case, of ASCII letters only where the pattern is ASCII. */
const foldedAs = (pattern: string, text: string): string =>
  /^[ -~]*$/.test(pattern) ? text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : text.toLowerCase()

/** A JSON string whose letters are all spelled by their numbers. */
const byNumbers = (text: string): string =>
  `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`

const BUILD =
  'ALTER TABLE calls MATERIALIZE INDEX inputs_words, MATERIALIZE INDEX output_words SETTINGS mutations_sync = 2'

const command = (sql: string): Promise<void> => server.stores.traces.command({ sql, params: {} })

describe('an index of the words of payloads', () => {
  // A merge of other tests' calls would drop what was built here.
  const own = useTestServer({})

  it('excludes parts without a word', async () => {
    const project = own.newProject()
    await writeCalls(own, project, [finishedCall({ inputs: { text: 'the quokka ate' }, output: 'wallaby' })])
    const isRead = async (word: string, path: string): Promise<boolean> => {
      const $contains = { input: { $getField: path }, substr: { $literal: word } }
      const [query] = selectsPrefiltered(
        { project_id: project, query: { $expr: { $contains } } },
        { limit: 1, usesWordIndex: true },
      )
      const sql = `EXPLAIN ESTIMATE SELECT * FROM (${query?.sql})`
      const parts = own.stores.traces.query<{ rows: number }>({ sql, params: query?.params ?? {} })
      return ((await firstOf(parts))?.rows ?? 0) > 0
    }
    expect(await isRead('wallaby', 'inputs.text')).toBe(true)
    await own.stores.traces.command({ sql: BUILD, params: {} })
    expect(await isRead('wallaby', 'inputs.text')).toBe(false)
    expect(await isRead('OKK then', 'inputs.text')).toBe(false)
    expect(await isRead('Quokka', 'inputs.text')).toBe(true)
    expect(await isRead('quokka', 'output')).toBe(false)
    expect(await isRead('wall', 'output')).toBe(true)
    expect(await isRead('all', 'inputs.text')).toBe(true)
    // Whole words stand between two others.
    expect(await isRead('e quokka ate.', 'inputs.text')).toBe(true)
    expect(await isRead('e quokka at l', 'inputs.text')).toBe(false)
    expect(await isRead('a quokka ate', 'inputs.text')).toBe(true)
  })
})

describe('POST /calls/stream_query for a part of a text', () => {
  let project: string
  /** Texts of calls that spell their characters by numbers. */
  const numbered = ['an escaped word', '\needle']
  /** By the number in their text. */
  const texts = [...Array.from({ length: CALLS }, (_, at) => textOf(at)), ...numbered]

  /** Half of the calls in one write, with the answer to each of the others in another. */
  beforeAll(async () => {
    project = server.newProject()
    const numbers = Array.from({ length: CALLS }, (_, at) => at)
    const half = CALLS / 2
    const call = (at: number): Fields =>
      finishedCall({ inputs: { at, text: textOf(at) }, output: [textOf(at)] })
    await writeCalls(server, project, numbers.slice(0, half).map(call))
    const parts = numbers.slice(half).map((at) => {
      const { ended_at, output, summary, ...start } = call(at)
      return {
        start: { ...start, project_id: project },
        end: { project_id: project, id: start['id'], ended_at, output, summary },
      }
    })
    for (const mode of ['end', 'start'] as const) {
      const batch = parts.map((part) => ({ mode, req: { [mode]: part[mode] } }))
      await replyOf(await server.post('/call/upsert_batch', { batch }))
    }
    const last = numbered.map((text, at) => {
      const call = finishedCall({ inputs: { at: CALLS + at, text: 'X' }, output: ['X'] })
      return JSON.stringify(call).replaceAll('"X"', byNumbers(text))
    })
    const body = `{"batch":[${last.join()}]}`
    await replyOf(await server.request(`/v2/${project}/calls/complete`, { method: 'POST', body }))
  })

  async function found(path: string, substr: string, fold: boolean): Promise<unknown[]> {
    const $contains = { input: { $getField: path }, substr: { $literal: substr }, case_insensitive: fold }
    const query = { $expr: { $contains } }
    const calls: Fields[] = await documentsOf(
      await server.post('/calls/stream_query', { project_id: project, query }),
    )
    return calls.map(({ inputs }) => (inputs as Fields)['at']).toSorted((a, b) => Number(a) - Number(b))
  }

  async function expectAll(): Promise<void> {
    for (const pattern of PATTERNS)
      for (const fold of [false, true]) {
        const folded = (text: string): string => (fold ? foldedAs(pattern, text) : text)
        const expected = texts.flatMap((text, at) => (folded(text).includes(folded(pattern)) ? [at] : []))
        const path = fold ? 'output.0' : 'inputs.text'
        expect.soft(await found(path, pattern, fold), `${pattern}, ${path}`).toEqual(expected)
      }
  }

  it('200 with the same calls without an index, with one, beside rows without, and where a merge has dropped it', async () => {
    await expectAll()
    await command(BUILD)
    await expectAll()
    await command('OPTIMIZE TABLE calls FINAL')
    await expectAll()
    await command(BUILD)
    await expectAll()
  })

  it('200 with the text of a whole payload, which is not the text that its client sent', async () => {
    expect(await found('inputs', String.raw`text":"\needle`, false)).toEqual([CALLS + 1])
    expect(await found('inputs', 'needle', false)).toEqual([CALLS + 1])
  })

  it('as many calls are counted among candidates as in the list', async () => {
    const $contains = { input: { $getField: 'inputs.text' }, substr: { $literal: 'quokka smiled' } }
    const selection = { project_id: project, query: { $expr: { $contains } } }
    const { traces } = server.stores
    const candidates = await rowsOf(
      traces.query<{ id: string }>(
        selectsPrefiltered(selection, { limit: CALLS, usesWordIndex: true })[0] ?? { sql: '', params: {} },
      ),
    )
    const scope = { ids: candidates.map(({ id }) => id) }
    const counts = [scope, { ids: [] }, {}].map(async (among) => {
      const query = countCalls(selection, { limit: undefined, storageSize: 'without', scope: among })
      return (await firstOf(traces.query<{ count: number }>(query)))?.count
    })
    const count = (await found('inputs.text', 'quokka smiled', false)).length
    expect(await Promise.all(counts)).toEqual([count, 0, count])
  })
})
