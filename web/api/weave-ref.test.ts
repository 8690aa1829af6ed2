import { expect, it } from 'vitest'
import { nameOfRef, parseRef, refLabel } from './weave-ref.ts'

it.each([
  ['weave:///local/demo/object/capitals:Xy12AbCd', 'object', 'capitals', 'Xy12AbCd', ''],
  ['weave:///local/my%20demo/op/Evaluation.evaluate:*', 'op', 'Evaluation.evaluate', 'latest', ''],
  ['weave:///local/demo/object/my set', 'object', 'my set', 'latest', ''],
  ['weave:///local/demo/object/sums:Xy/attr/rows/id/Row1', 'object', 'sums', 'Xy', 'Row1'],
  ['weave:///local/demo/object/sums:Xy/attr/rows/id/Row1/key/a', 'object', 'sums', 'Xy', 'Row1'],
  ['weave:///local/demo/object/sums:Xy/attr/name', 'object', 'sums', 'Xy', ''],
  ['weave:///local/demo/table/Tab/id/Row1', 'table', 'Tab', '', 'Row1'],
  ['weave:///local/demo/call/0197', 'call', '0197', '', ''],
  ['weave:///local/demo/object/100%:Xy', 'object', '100%', 'Xy', ''],
])('%s', (text, kind, name, version, row) =>
  expect(parseRef(text)).toMatchObject({ entity: 'local', kind, name, version, row }),
)

it.each([
  'see weave:///local/demo/object/a:b',
  'weave:///local/demo',
  'weave:///local/demo/feedback/a',
  `weave:///local/demo/object/${'a'.repeat(2000)}:b`,
  'weave:///local/demo/object/a:b\nmore',
  7,
  null,
])('%s is no ref', (text) => expect(parseRef(text)).toBeUndefined())

it('has a short text', () => {
  const labels = ['object/capitals:Xy12AbCd', 'call/0197-abcdef', 'object/sums:Xy/attr/rows/id/Row12345']
    .map((path) => parseRef(`weave:///local/demo/${path}`))
    .map((ref) => ref && refLabel(ref))
  expect(labels).toEqual(['capitals:Xy12Ab', 'call …abcdef', 'sums row Row123'])
  expect(nameOfRef('weave:///local/demo/object/capitals:Xy')).toBe('capitals')
  expect(nameOfRef('gpt')).toBe('gpt')
})
