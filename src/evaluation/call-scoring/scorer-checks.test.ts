import { expect, it, vi } from 'vitest'
import { type ClientError, notFound, StoreFailed } from '../../errors.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { OnChange } from '../../trace/objects/publisher.ts'
import { createScorerChecks } from './scorer-checks.ts'

const PROJECT = 'e/p'
const REF = `weave:///${PROJECT}/object/scorer:abc`

/** Checks of scorers that are read by `read`. */
function checksOf(read: () => Promise<{ obj: object }>) {
  let change: OnChange = () => undefined
  function watchChanges(watcher: OnChange): void {
    change = watcher
  }
  // The stand-ins have what is used of objects and ops to load a scorer of a builtin class.
  const deps = { objects: { read, watchChanges }, ops: { refOf: () => 'op' } } as unknown as Parameters<
    typeof createScorerChecks
  >[0]
  const { check } = createScorerChecks(deps)
  return {
    check: () => check(PROJECT, REF),
    changeIn: (project_id: string) => change({ project_id, base_object_class: null, kind: 'published' }),
  }
}

const val = new JsonText('{"_class_name":"ValidJSONScorer"}')
const found = { obj: { digest: 'abc', kind: 'object', val } }

it('a scorer is loaded once for all who ask, until objects of its project change', async () => {
  const read = vi.fn(async () => found)
  const { check, changeIn } = checksOf(read)
  await Promise.all([check(), check(), check()])
  changeIn('e/other')
  await check()
  expect(read).toHaveBeenCalledTimes(1)
  changeIn(PROJECT)
  await check()
  expect(read).toHaveBeenCalledTimes(2)
})

it.each<[string, ClientError, number]>([
  ['will not, is kept', notFound('Obj', 'scorer'), 1],
  ['may pass, is not', new StoreFailed('away', undefined), 2],
])('a reason for which it cannot be loaded, which %s', async (_, error, reads) => {
  const read = vi.fn(() => Promise.reject(error))
  const { check } = checksOf(read)
  await expect(check()).rejects.toBe(error)
  await expect(check()).rejects.toBe(error)
  expect(read).toHaveBeenCalledTimes(reads)
})
