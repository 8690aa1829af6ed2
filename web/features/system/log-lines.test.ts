import { expect, it } from 'vitest'
import { LINES_MAX, linesWith, withPiece } from './log-lines.ts'

const piece = (from: number, text: string) => ({
  name: 'a.log',
  size_bytes: from + text.length,
  from,
  until: from + text.length,
  text,
})

it('goes on where it was, and begins anew with a log that does', () => {
  const first = withPiece(undefined, piece(100, '2026-01-01T00:00:00.000Z one\ntwo\n'))
  expect(first.lines).toEqual([
    { number: 1, at: '2026-01-01T00:00:00.000Z', text: 'one' },
    { number: 2, at: undefined, text: 'two' },
  ])
  expect(withPiece(first, piece(first.until, ''))).toBe(first)
  const second = withPiece(first, piece(first.until, 'three\n'))
  expect(second.lines.map(({ number, text }) => `${number} ${text}`)).toEqual(['1 one', '2 two', '3 three'])
  expect(withPiece(second, piece(0, 'new\n')).lines.map(({ text }) => text)).toEqual(['new'])
})

it('keeps the newest lines, which keep their numbers', () => {
  const many = Array.from({ length: LINES_MAX + 5 }, (_, index) => `line ${index}\n`).join('')
  const { lines } = withPiece(undefined, piece(0, many))
  expect(lines).toHaveLength(LINES_MAX)
  expect(lines[0]).toMatchObject({ number: 6, text: 'line 5' })
})

it('finds lines by their text, whatever its case and colours', () => {
  const { lines } = withPiece(undefined, piece(0, 'a \u001b[31mWARN\u001b[0ming\nother\n'))
  expect(linesWith(lines, ' warning ').map(({ number }) => number)).toEqual([1])
  expect(linesWith(lines, '')).toHaveLength(2)
})
