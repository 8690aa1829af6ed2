import { expect, it } from 'vitest'
import { lineDiff } from '../../components/text-diff.ts'
import { foldedLines } from './folded-lines.ts'

it('folds what is far from every change, and keeps the numbers of lines', () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`)
  const after = before.with(9, 'another').toSpliced(0, 0, 'first')
  const folds = foldedLines(lineDiff(before.join('\n'), after.join('\n')))
  expect(folds.map(({ kind, lines }) => `${kind} ${lines.length}`)).toEqual([
    'shown 4',
    'folded 3',
    'shown 7',
    'folded 7',
  ])
  const changed = folds[2]?.lines.find(({ isSame }) => !isSame)
  expect(changed).toEqual({
    before: 'line 10',
    after: 'another',
    beforeNumber: 10,
    afterNumber: 11,
    isSame: false,
  })
})

it('folds texts that are equal whole', () => {
  expect(foldedLines(lineDiff('a\nb', 'a\nb')).map(({ kind }) => kind)).toEqual(['folded'])
})
