import { expect, it } from 'vitest'
import { plainText, runsOf } from './ansi.ts'

const ESC = '\u001b'

it('keeps colours and weight, and takes everything else of a terminal away', () => {
  expect(runsOf(`${ESC}[0;36m(Engine)${ESC}[0m INFO ${ESC}[1;91mbad${ESC}[22m!${ESC}[K`)).toEqual([
    { text: '(Engine)', color: 6, isBold: false },
    { text: ' INFO ', color: undefined, isBold: false },
    { text: 'bad', color: 1, isBold: true },
    { text: '!', color: 1, isBold: false },
  ])
  expect(runsOf(`${ESC}]0;title\u0007text`)).toEqual([{ text: 'text', color: undefined, isBold: false }])
  expect(runsOf(`${ESC}[38;5;1mtext`)).toEqual([{ text: 'text', color: undefined, isBold: false }])
})

it('shows the last state of a line that was drawn over itself', () => {
  expect(runsOf('10 %\r20 %\r').map(({ text }) => text.trim())).toEqual(['20 %'])
  expect(runsOf('')).toEqual([])
})

it('finds text whatever its colours', () => {
  expect(plainText(`a${ESC}[31mb${ESC}[0mc`)).toBe('abc')
})
