import { expect, it } from 'vitest'
import { namedApart, scorerName } from './scorer-name.ts'

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

const scorer = (name: string, object: string, digest = 'd') => ({
  name,
  ref: `weave:///e/p/object/${object}:${digest}`,
})

it('scorers with the same name in an evaluation stand under the names of their objects', () => {
  const scorers = [scorer('Regex', 'm1'), scorer('Regex', 'm2'), scorer('judge', 'm3')]
  expect(namedApart(scorers).map(({ name }) => name)).toEqual(['m1', 'm2', 'judge'])
  expect(namedApart([scorer('Regex', 'm1'), scorer('Regex', 'm1')])).toEqual([scorer('Regex', 'm1')])
})

it.each([
  ['of versions of one object', [scorer('Regex', 'm1', 'a'), scorer('Regex', 'm1', 'b')]],
  [
    'of an object that is called as another scorer',
    [scorer('R', 'm1'), scorer('R', 'm2'), scorer('m1', 'x')],
  ],
])('400 that names both where the names %s are the same too', (_, scorers) => {
  const named = scorers.filter(({ ref }) => !ref.includes('m2')).map(({ ref }) => ref)
  expect(() => namedApart(scorers)).toThrow(named.join(' and '))
})
