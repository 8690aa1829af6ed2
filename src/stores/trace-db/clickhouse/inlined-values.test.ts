import { expect, it } from 'vitest'
import { inlineValues } from './inlined-values.ts'

it('writes values into SQL so that they stay values', () => {
  const sql =
    'SELECT {a:String}, {b:Array(String)}, {c:Array(String)}, {d:UInt64}, {e:Array(Float64)}, {f:String}, {g:Array(Nullable(String))}'
  const params = { a: `'{d:UInt64}\\\0`, b: ["'", 'x'], c: [], d: 7, e: [1.5, -2], g: ['x', null] }
  expect(inlineValues({ sql, params })).toBe(
    `SELECT '\\'{d:UInt64}\\\\\\0', ['\\'','x'], CAST([], 'Array(String)'), CAST('7', 'UInt64'), ` +
      `CAST('[1.5,-2]', 'Array(Float64)'), {f:String}, ['x',NULL]`,
  )
})
