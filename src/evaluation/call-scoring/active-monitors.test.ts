import { describe, expect, it } from 'vitest'
import { JsonText } from '../../json/lossless-json.ts'
import { knownMonitors, readMonitor } from './active-monitors.ts'
import { tasksPerCall } from './wanted-tasks.ts'

const refs = (count: number) =>
  Array.from({ length: count }, (_, index) => `weave:///a/b/object/s${index}:v0`)

function published(object_id: string, more: object) {
  const val = new JsonText(JSON.stringify({ _class_name: 'Monitor', active: true, ...more }))
  return { object_id, digest: 'v0', user: 'someone', val }
}

describe('a monitor', () => {
  it('has at most a hundred scorers, each once', () => {
    const twice = readMonitor('a/b', published('m', { scorers: [...refs(50), ...refs(50)] }))
    expect(twice.runs?.scorers).toEqual(refs(50))
    expect(readMonitor('a/b', published('m', { scorers: refs(100) })).problems).toEqual([])
    const tooMany = readMonitor('a/b', published('m', { scorers: refs(101) }))
    expect(tooMany.runs).toBeUndefined()
    expect(tooMany.problems).toEqual([expect.stringMatching(/^scorers: .*100/)])
    expect(readMonitor('a/b', published('m', { scorers: [] })).problems).toEqual([
      'scorers: A monitor has at least one scorer',
    ])
  })

  it('says one thing of many values that are no texts', () => {
    const scorers = Array.from({ length: 200_000 }, () => 1)
    expect(readMonitor('a/b', published('m', { scorers })).problems).toHaveLength(1)
  })

  it('runs beside 99 others of its project', async () => {
    const objs = Array.from({ length: 102 }, (_, index) => ({
      ...published(`m${index}`, { scorers: refs(2) }),
      wb_user_id: 'someone',
    }))
    const lastPublished = async () => objs as never
    const known = await knownMonitors({ lastPublished }, 'a/b')
    const running = known.flatMap(({ runs }) => runs ?? [])
    expect(running).toHaveLength(100)
    expect(tasksPerCall(running)).toBe(200)
    expect(known[101]?.problems).toEqual(['100 other monitors of the project run, which is the most'])
  })
})
