import { expect, it } from 'vitest'
import { columnsOf } from './columns.tsx'

it('columns are titled by their names, and by the whole path where others have the same', () => {
  const titles = (ids: string[]) => columnsOf(ids).map(({ title }) => title)
  expect(titles(['op', 'inputs.text', 'output.score'])).toEqual(['Call', 'text', 'score'])
  expect(titles(['inputs.text', 'output.text'])).toEqual(['inputs.text', 'output.text'])
  expect(titles(['cost', 'output.Cost'])).toEqual(['Cost', 'output.Cost'])
})
