import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createParams } from './params.ts'
import { readableJson } from './readable-json.ts'

const server = useTestServer()

/** What the database makes of texts, and whether it can parse that. */
async function readable(texts: readonly string[]): Promise<{ text: string; isValid: boolean }[]> {
  const params = createParams()
  const sql = `SELECT ${readableJson('text')} AS readable, isValidJSON(readable) AS is_valid
    FROM (SELECT arrayJoin(${params.bind(texts, 'Array(String)')}) AS text)`
  const query = { sql, params: params.values }
  const rows = await Array.fromAsync(server.stores.traces.query<{ readable: string; is_valid: 0 | 1 }>(query))
  return rows.map((row) => ({ text: row.readable, isValid: row.is_valid === 1 }))
}

describe('readable JSON', () => {
  it('is the same text where the database can parse it', async () => {
    const texts = [
      '{"a": [1, -2.5e10, "x", null, true]}',
      String.raw`{"pair":"\ud83d\ude00","escaped":"\\ud83d","quote":"\"1e999\""}`,
      '{"u64":18446744073709551615,"i64":-9223372036854775808,"text":"123456789012345678901234567890"}',
      '"text"',
      '',
    ]
    expect((await readable(texts)).map(({ text }) => text)).toEqual(texts)
  })

  it.each([
    [String.raw`{"a":"\ud83d","b":1}`, String.raw`{"a":"\ufffd","b":1}`],
    [
      String.raw`{"a":"x\uDE00y\ud83d\ude00\\ud83d\ud83d"}`,
      String.raw`{"a":"x\ufffdy\ud83d\ude00\\ud83d\ufffd"}`,
    ],
    [String.raw`{"\ud800":"\ud800\ud800\udc00"}`, String.raw`{"\ufffd":"\ufffd\ud800\udc00"}`],
    [String.raw`["\\\ud800","\\\\","\""]`, String.raw`["\\\ufffd","\\\\","\""]`],
    [
      '{"a":18446744073709551616,"b":[-9223372036854775809]}',
      '{"a":"18446744073709551616","b":["-9223372036854775809"]}',
    ],
    ['[1e400, -1E+999,"1e400", 1.5]', '["1e400", "-1E+999","1e400", 1.5]'],
    [
      String.raw`{"s":"\"18446744073709551616","n":18446744073709551616}`,
      String.raw`{"s":"\"18446744073709551616","n":"18446744073709551616"}`,
    ],
  ])('of %s is %s', async (text, expected) => {
    expect(await readable([text])).toEqual([{ text: expected, isValid: true }])
  })
})
