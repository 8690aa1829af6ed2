import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'
import { createRunClient } from './run-client.ts'

const server = useTestServer()
const client = createTestClient(server)
const { start, stream } = createRunClient(server, client)

const QUERY = `query ($project: String!, $filters: JSONString, $order: String, $first: Int, $after: String) {
  project(name: $project, entityName: "test") { runCount(filters: $filters)
    runs(filters: $filters, order: $order, first: $first, after: $after) {
      edges { cursor node { name state projectId } } pageInfo { endCursor hasNextPage } } } }`

/** The page of a listing and the number of runs, or the error. */
async function list(project: string, { filters, ...page }: Record<string, unknown>) {
  const { data, errors } = await client.ask(QUERY, {
    project: project.slice(5),
    ...(filters !== undefined && {
      filters: typeof filters === 'string' ? filters : JSON.stringify(filters),
    }),
    ...page,
  })
  if (errors !== undefined)
    return { error: String(errors[0].message), names: [], count: 0, end: '', more: false }
  const { runs, runCount } = data.project
  const names: string[] = runs.edges.map(({ node }: { node: { name: string } }) => node.name)
  return { names, count: runCount, end: runs.pageInfo.endCursor, more: runs.pageInfo.hasNextPage }
}

describe('POST /graphql, lists of runs', () => {
  it('200 with a listing by filters, order and page, and errors for others', async () => {
    const project = server.newProject()
    for (const name of ['a', 'b', 'c'])
      await start(project, name, { groupName: name === 'c' ? 'g' : null, tags: [`of ${name}`, 'every'] })
    await stream(project, 'b', { complete: true })
    await server.stores.control
      .updateTable('runs')
      .set({ heartbeat_at: '2020-01-01T00:00:00Z' })
      .where('project', '=', project.slice(5))
      .where('name', '=', 'c')
      .execute()
    expect((await list(project, {})).names).toEqual(['a', 'b', 'c'])
    expect((await list(project, { order: '-created_at' })).names).toEqual(['c', 'b', 'a'])
    for (const [filter, expected] of [
      [{ state: 'finished' }, ['b']],
      [{ state: 'running' }, ['a']],
      [{ state: 'crashed' }, ['c']],
      [{ state: { $in: ['running', 'crashed'] } }, ['a', 'c']],
      [{ group: 'g' }, ['c']],
      [{ display_name: { $in: ['a', 'c'] } }, ['a', 'c']],
      [{ state: { $in: ['running', 'finished'] } }, ['a', 'b']],
      [{ tags: 'of b' }, ['b']],
      [{ tags: 'of' }, []],
      [{ tags: { $in: ['of a', 'of b'] }, group: { $in: [] } }, []],
      [{ $or: [{ name: 'a' }, { $and: [{ name: 'c' }, { group: 'g' }] }] }, ['a', 'c']],
      [{ createdAt: { $gt: '2020-01-01', $lt: '2200-01-01T00:00:00' } }, ['a', 'b', 'c']],
      [{ created_at: { $lte: '2020-01-01' } }, []],
      [{ $nor: [{ name: 'a' }, { state: { $ne: 'crashed' } }] }, ['c']],
      [{ display_name: { $regex: '^[AB]$', $options: 'i' } }, ['a', 'b']],
      [{ display_name: { $not: { $regex: 'a' } }, username: { $exists: true } }, ['b', 'c']],
      [{ group: { $exists: true, $ne: null } }, ['c']],
      [{ $and: [], $or: [{ $and: [{}] }] }, ['a', 'b', 'c']],
    ] as const) {
      const { names, count } = await list(project, { filters: filter })
      expect([filter, names, count]).toEqual([filter, expected, expected.length])
    }
    const page = await list(project, { first: 2 })
    expect(page.more).toBe(true)
    expect((await list(project, { first: 2, after: page.end })).names).toEqual(['c'])
    const filtered = await list(project, { first: 1, filters: { name: { $ne: 'b' } } })
    expect(filtered).toMatchObject({ names: ['a'], count: 2, more: true })
    const rest = await list(project, { first: 1, filters: { name: { $ne: 'b' } }, after: filtered.end })
    expect(rest).toMatchObject({ names: ['c'], more: false })
    for (const bad of [
      { filters: '{"sweep":"a"}' },
      { filters: '{"name":{"$where":"true"}}' },
      { filters: '{"name":{"$regex":"("}}' },
      { filters: '{"name":{}}' },
      { filters: '{"$or":[]}' },
      { filters: `{"name":${'{"$not":'.repeat(30)}{"$eq":1}${'}'.repeat(30)}}` },
      { filters: 'x' },
      { filters: '{"createdAt":{"$gt":"yesterday"}}' },
      { filters: JSON.stringify({ $or: Array(101).fill({ name: 'a' }) }) },
      { order: '+sweep' },
      { order: '+tags' },
      { order: '+config.lr', after: 'a' },
    ]) {
      expect([bad, (await list(project, bad)).error]).toEqual([bad, expect.any(String)])
    }
  })

  it('200 with runs by values of configs and summaries, in their order', async () => {
    const project = server.newProject()
    const runs = {
      a: {
        config: { lr: { value: 0.1 }, net: { value: { depth: 2, kinds: ['x', 'y'] } } },
        summary: { loss: 3, 'val.acc': 1 },
      },
      b: {
        config: { lr: { value: 0.01 }, 'opt.name': { value: 'adam' } },
        summary: { loss: 'NaN', val: { acc: 0.5 } },
      },
      c: { config: { lr: { value: 'auto' }, id: { value: 'BIG' } }, summary: { loss: 1 } },
      d: { config: {}, summary: { loss: 20 } },
    }
    for (const [name, { config, summary }] of Object.entries(runs)) {
      const text = JSON.stringify(config).replace('"BIG"', '12345678901234567890')
      await start(project, name, { config: text })
      const content = [JSON.stringify(summary).replace('"NaN"', 'NaN')]
      await stream(project, name, { files: { 'wandb-summary.json': { offset: 0, content } } })
    }
    for (const [filter, expected] of [
      [{ 'config.lr': 0.1 }, ['a']],
      [{ 'config.lr.value': { $lt: 0.1 } }, ['b']],
      [{ 'config.lr': { $in: [0.01, 'auto'] } }, ['b', 'c']],
      [{ 'config.lr': { $exists: false } }, ['d']],
      [{ 'config.lr': { $ne: 0.1 } }, ['b', 'c', 'd']],
      [{ 'config.net.depth': { $gte: 2 }, 'config.net.kinds': 'y' }, ['a']],
      [{ 'config.opt.name': 'adam' }, ['b']],
      [{ 'config.id': { $gt: 1e19, $lt: 2e19 } }, ['c']],
      [{ 'summary_metrics.loss': { $lt: 20 } }, ['a', 'c']],
      [{ $or: [{ 'summary_metrics.val.acc': { $gt: 0.9 } }, { 'config.lr': 'auto' }] }, ['a', 'c']],
      [{ 'config.__proto__.x': { $exists: true } }, []],
    ] as const) {
      const { names, count } = await list(project, { filters: filter })
      expect([filter, names, count]).toEqual([filter, expected, expected.length])
    }
    expect((await list(project, { order: '+summary_metrics.loss' })).names).toEqual(['c', 'a', 'd', 'b'])
    expect((await list(project, { order: '-config.lr.value' })).names).toEqual(['a', 'b', 'c', 'd'])
    const order = { order: '-summary_metrics.loss', filters: { 'config.lr': { $ne: 0.1 } }, first: 2 }
    const first = await list(project, order)
    expect(first).toMatchObject({ names: ['d', 'c'], count: 3, more: true })
    expect(await list(project, { ...order, after: first.end })).toMatchObject({ names: ['b'], more: false })
  })

  it('200 with an error for an expression that takes too long', async () => {
    const project = server.newProject()
    await start(project, 'r', { notes: `${'a'.repeat(60)}!` })
    const { error } = await list(project, { filters: { notes: { $regex: '^(a+)+$' } } })
    expect(error).toContain('To filter runs takes more than 2000 ms')
  })

  it('200 with an error for a page of runs with too much text, and without it for a smaller page', async () => {
    const project = server.newProject()
    for (const name of ['a', 'b']) {
      await start(project, name)
      const update = server.stores.control.updateTable('runs').set({ config: 'x'.repeat(33 * 1024 * 1024) })
      await update.where('project', '=', project.slice(5)).where('name', '=', name).execute()
    }
    const ask = (first: number) =>
      client.ask(`{ project(name: "${project.slice(5)}", entityName: "test") {
        runs(first: ${first}) { edges { node { name } } } } }`)
    expect(await ask(2)).toMatchObject({ errors: [{ message: expect.stringContaining('a smaller one') }] })
    expect((await ask(0)).errors).toBeUndefined()
    await expect(
      start(project, 'c', { config: JSON.stringify({ text: 'x'.repeat(11 * 1024 * 1024) }) }),
    ).rejects.toThrow('it may have 10485760')
  })
})
