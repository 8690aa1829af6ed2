import { expect, it } from 'vitest'
import { scorerName } from './scorer-name.ts'

const found = { projectId: 'e/p', digest: 'd', kind: 'object', ref: 'weave:///e/p/object/its-object:d' }

/** The names are those of PyPI weave 0.54. */
it.each([
  [{ name: 'Answer quality' }, 'Answer-quality'],
  [{ name: ' -_a: b..c_.d_e. ' }, 'a-b-c-d_e'],
  [{ name: 'Güte №1 (é)' }, 'Güte-1-é'],
  [{ name: 'x'.repeat(130) }, 'x'.repeat(128)],
  [{ name: null, _class_name: 'Longer' }, 'Longer'],
  [{ name: '', _class_name: 'Longer' }, 'Longer'],
  [{ name: '!?' }, 'its-object'],
  [{}, 'its-object'],
])('the results of %j stand under %s', (val, name) => {
  expect(scorerName({ ...found, name: 'its-object', val })).toBe(name)
})
