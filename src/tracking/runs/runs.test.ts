import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'
import { createRunClient } from './run-client.ts'
import { LINES_MAX, type MetricsRes } from './wire.ts'

const server = useTestServer()
const client = createTestClient(server)
const { start, stream, history, runOf } = createRunClient(server, client)

async function json(path: string) {
  return (await (await server.request(path)).json()) as Record<string, unknown>
}

describe('POST /files/{entity}/{project}/{run}/file_stream', () => {
  it('200 and one state, whether chunks come once, twice or out of order', async () => {
    const project = server.newProject()
    const chunks = [
      history(0, [{ _step: 0, _timestamp: 1_700_000_000.5, loss: 1, deep: { x: [1] }, text: 'a' }]),
      history(1, [
        { _step: 1, _timestamp: 1_700_000_001, loss: 0.5, ok: true },
        { _step: 3, _timestamp: 1_700_000_002, loss: 0.25 },
      ]),
      { files: { 'wandb-summary.json': { offset: 0, content: ['{"loss":0.25,"_timestamp":1700000002}'] } } },
      { files: { 'wandb-summary.json': { offset: 0, content: ['{"loss":0.5,"_timestamp":1700000001}'] } } },
      {
        files: { 'wandb-events.jsonl': { offset: 0, content: ['{"system.cpu":3,"_timestamp":1700000001}'] } },
      },
      {
        files: {
          'output.log': {
            offset: 0,
            content: ['2026-01-01T00:00:00.000001 50 %', '2026-01-01T00:00:00.000002 b'],
          },
        },
      },
      { files: { 'output.log': { offset: 0, content: ['2026-01-01T00:00:00.000003 100 %'] } } },
      { complete: true, exitcode: 0 },
    ]
    const states: unknown[] = []
    for (const order of [chunks, [...chunks, ...chunks], [...chunks].reverse()]) {
      const run = `run-${states.length}`
      await start(project, run)
      for (const chunk of order) expect((await stream(project, run, chunk)).status).toBe(200)
      states.push(
        await runOf(
          project,
          run,
          `state summaryMetrics historyLineCount eventsLineCount logLineCount historyKeys systemMetrics
           history(samples: 10) events(samples: 10) historyTail
           logLines(first: 10) { edges { node { number line } } }`,
        ),
      )
    }
    expect(states[0]).toMatchObject({
      state: 'finished',
      summaryMetrics: '{"loss":0.25,"_timestamp":1700000002}',
      historyLineCount: 3,
      eventsLineCount: 1,
      logLineCount: 2,
      historyKeys: { lastStep: 3, keys: { loss: { typeCounts: [{ type: 'number', count: 3 }] } } },
      history: [
        '{"deep.x":[1],"loss":1,"text":"a","_step":0,"_timestamp":1700000000.5}',
        '{"loss":0.5,"ok":true,"_step":1,"_timestamp":1700000001}',
        '{"loss":0.25,"_step":3,"_timestamp":1700000002}',
      ],
      events: ['{"system.cpu":3,"_timestamp":1700000001}'],
      logLines: {
        edges: [{ node: { number: 0, line: '100 %' } }, { node: { number: 1, line: 'b' } }],
      },
    })
    expect(states[1]).toEqual(states[0])
    expect(states[2]).toEqual(states[0])
  })

  it('200 for numbers that JSON does not have, lines that are not JSON objects and unknown files', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const content = ['{"_step":0,"loss":NaN,"up":Infinity,"said":"NaN"}', 'nonsense', '[1]', '']
    const files = {
      'wandb-history.jsonl': { offset: 0, content },
      'wandb-summary.json': { offset: 0, content: ['{"loss":NaN}'] },
      'other.txt': { offset: 0, content: ['x'] },
    }
    expect((await stream(project, 'r', { files, unknown: 1 })).status).toBe(200)
    expect(await runOf(project, 'r', 'summaryMetrics history')).toMatchObject({
      summaryMetrics: '{"loss":NaN}',
      history: [expect.stringContaining('"loss":NaN,"said":"NaN","up":Infinity')],
    })
    expect(await json(`/v1/preview/runs/${project}/r/metrics?keys=loss,said`)).toEqual({
      keys: [],
      data: [
        { key: 'loss', points: [{ step: 0, value: null, time: expect.any(String) }], has_more: false },
        { key: 'said', points: [], has_more: false },
      ],
    })
    expect(await json(`/v1/preview/runs/${project}/r`)).toMatchObject({ summary: { loss: null } })
  })

  it('200 for long whole numbers, which keep their digits in lines, samples, points and the summary', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const line = '{"_step":0,"big":1152921504606846977}'
    const files = {
      'wandb-history.jsonl': { offset: 0, content: [line] },
      'wandb-summary.json': { offset: 0, content: [line] },
    }
    await stream(project, 'r', { files })
    const spec = JSON.stringify(JSON.stringify({ keys: ['big'] }))
    const query = `{ project(name: "${project.slice(5)}", entityName: "test") { run(name: "r") {
      history(samples: 1) historyTail sampledHistory(specs: [${spec}]) } } }`
    const sent = await server.post('/graphql', { query })
    expect((await sent.text()).match(/1152921504606846977/g)).toHaveLength(3)
    const shown = await server.request(`/v1/preview/runs/${project}/r`)
    expect(await shown.text()).toContain('"big":1152921504606846977')
    expect(await json(`/v1/preview/runs/${project}/r/metrics?keys=big`)).toMatchObject({
      data: [{ points: [{ step: 0, value: 2 ** 60 }] }],
    })
  })

  it('200 for a run whose machine is taken from it, which has not crashed when it is silent', async () => {
    const project = server.newProject()
    await start(project, 'r')
    await stream(project, 'r', { preempting: true })
    await stream(project, 'r', history(0, [{ _step: 0, v: 1 }]))
    const old = server.stores.control.updateTable('runs').set({ heartbeat_at: '2020-01-01T00:00:00Z' })
    await old.where('project', '=', project.slice(5)).execute()
    expect(await runOf(project, 'r', 'state')).toEqual({ state: 'preempting' })
    await start(project, 'r')
    expect(await runOf(project, 'r', 'state')).toEqual({ state: 'running' })
    await stream(project, 'r', { preempting: true, complete: true, exitcode: 0 })
    expect(await runOf(project, 'r', 'state')).toEqual({ state: 'finished' })
  })

  it('200 for a change of the config of such a run, which stays as it is until its program starts again', async () => {
    const project = server.newProject()
    const { bucket } = await start(project, 'r', { host: 'h', jobProgram: 'p.py' })
    await stream(project, 'r', { preempting: true })
    await client.mutate('stopRun', 'success', { id: bucket.id })
    const fields = 'state stopped config'
    await start(project, 'r', { config: '{"a":{"value":1}}' })
    const changed = { state: 'preempting', stopped: true, config: '{"a":{"value":1}}' }
    expect(await runOf(project, 'r', fields)).toEqual(changed)
    await start(project, 'r', { host: 'h', jobProgram: 'p.py' })
    expect(await runOf(project, 'r', fields)).toEqual({ ...changed, state: 'running', stopped: false })
  })

  it('200 for summaries whose times a program logs itself, and for those of a run that is logged again', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const told = async (summary: object) => {
      const content = [JSON.stringify(summary)]
      await stream(project, 'r', { files: { 'wandb-summary.json': { offset: 0, content } } })
      return JSON.parse((await runOf(project, 'r', 'summaryMetrics')).summaryMetrics)
    }
    const far = { _step: 0, _timestamp: 4_000_000_000, v: 0 }
    const near = { _step: 1, _timestamp: 1_700_000_000, v: 1 }
    const again = { _step: 0, _timestamp: 1_700_000_009, v: 2 }
    for (const summary of [far, near, again]) expect(await told(summary)).toEqual(summary)
    expect(await told({ _step: -1, _timestamp: 1_700_000_001 })).toEqual(again)
  })

  it('200 up to as many lines as clients can count, 422 for more, and the run and its list stay readable', async () => {
    const project = server.newProject()
    await start(project, 'r')
    for (const [file, count] of [
      ['wandb-history.jsonl', 'historyLineCount'],
      ['wandb-events.jsonl', 'eventsLineCount'],
      ['output.log', 'logLineCount'],
    ] as const) {
      const chunk = (offset: number) => ({ files: { [file]: { offset, content: ['{}', '{}'] } } })
      for (const offset of [LINES_MAX - 1, Number.MAX_SAFE_INTEGER]) {
        const refused = await stream(project, 'r', chunk(offset))
        expect(refused.status).toBe(422)
        expect(await refused.text()).toContain('offset')
      }
      expect(await runOf(project, 'r', count)).toEqual({ [count]: 0 })
      expect((await stream(project, 'r', chunk(LINES_MAX - 2))).status).toBe(200)
      expect(await runOf(project, 'r', count)).toEqual({ [count]: LINES_MAX })
    }
    const list = `/v1/preview/runs?entity=test&project=${project.slice(5)}`
    expect(await json(list)).toMatchObject({ data: [{ run: 'r' }] })
  })

  it('200 for a step beyond which none can be, which is read as the number of its line', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER].map((_step) => ({ _step, a: 1 }))
    expect((await stream(project, 'r', history(0, lines))).status).toBe(200)
    const { sampledHistory, history: all } = await runOf(
      project,
      'r',
      'history(minStep: 0) sampledHistory(specs: ["{\\"keys\\":[\\"_step\\",\\"a\\"]}"])',
    )
    const steps = [1, Number.MAX_SAFE_INTEGER - 1]
    expect(sampledHistory).toEqual([steps.map((_step) => ({ _step, a: 1 }))])
    expect(all.map((line: string) => JSON.parse(line)._step)).toEqual(steps)
  })

  it('404 for an unknown run, 422 for another shape, 401 without a key', async () => {
    const project = server.newProject()
    expect((await stream(project, 'nobody', { files: {} })).status).toBe(404)
    await start(project, 'r')
    for (const body of [
      { files: { 'output.log': { offset: -1, content: [] } } },
      { files: { 'output.log': { offset: 0, content: [1] } } },
      { exitcode: 'x' },
    ]) {
      expect((await stream(project, 'r', body)).status).toBe(422)
    }
    const path = `/files/${project}/r/file_stream`
    const anonymous = await server.request(path, {
      method: 'POST',
      headers: { authorization: '' },
      body: '{}',
    })
    expect(anonymous.status).toBe(401)
  })
})

describe('GET /v1/preview/runs and /v1/preview/runs/{entity}/{project}/{run}', () => {
  it('200 with the runs of a project, newest first, page by page', async () => {
    const project = server.newProject()
    for (const name of ['a', 'b', 'c']) await start(project, name)
    const path = `/v1/preview/runs?entity=test&project=${project.slice(5)}&limit=2`
    const first = await json(path)
    expect(first).toMatchObject({ has_more: true, data: [{ run: 'c' }, { run: 'b' }] })
    expect(await json(`${path}&after=${first['last_id']}`)).toMatchObject({
      has_more: false,
      data: [{ run: 'a' }],
    })
  })

  it('200 whatever a run of the project has, with long configs and summaries only of a run by itself', async () => {
    const project = server.newProject()
    const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
    await start(project, 'a', { config: '{"lr":{"value":0.1}}' })
    await expect(start(project, 'a', { config: deep(1_000) })).rejects.toThrow('at most 1000 levels')
    const long = { text: 'x'.repeat(20_000) }
    await start(project, 'b', { config: JSON.stringify(long), summaryMetrics: deep(999) })
    const content = [deep(100_000), '{"_step":1,"loss":2}']
    expect((await stream(project, 'b', history(0, []))).status).toBe(200)
    const files = { 'wandb-history.jsonl': { offset: 0, content } }
    expect((await stream(project, 'b', { files })).status).toBe(200)
    expect(await runOf(project, 'b', 'history')).toEqual({ history: [expect.stringContaining('"loss":2')] })
    const of = { entity: 'test', project: project.slice(5), name: 'a' }
    const update = server.stores.control.updateTable('runs').set({ summary: deep(10_000) })
    await update.where((eb) => eb.and(of)).execute()
    const { data } = (await json(`/v1/preview/runs?entity=test&project=${project.slice(5)}`)) as {
      data: object[]
    }
    expect(data).toMatchObject([{ run: 'b', summary: { a: expect.any(Array) } }, { run: 'a' }])
    expect(data[0]).not.toHaveProperty('config')
    expect(data[1]).toMatchObject({ config: { lr: 0.1 } })
    expect(await json(`/v1/preview/runs/${project}/b`)).toMatchObject({ config: long })
    expect(await json(`/v1/preview/runs/${project}/a`)).toMatchObject({ summary: {} })
  })

  it('200 with the fields of a run, 404 for an unknown one, 422 without a project, 401 without a key', async () => {
    const project = server.newProject()
    await start(project, 'r', {
      config: '{"_wandb":{"value":{}},"lr":{"value":0.1},"plain":3}',
      tags: ['t'],
      jobType: 'train',
    })
    await stream(project, 'r', { ...history(0, [{ _step: 4, v: 1 }]), exitcode: 1, complete: true })
    expect(await json(`/v1/preview/runs/${project}/r`)).toMatchObject({
      run: 'r',
      state: 'failed',
      config: { lr: 0.1, plain: 3 },
      tags: ['t'],
      job_type: 'train',
      last_step: 4,
      exit_code: 1,
      ended_at: expect.any(String),
    })
    expect((await server.request(`/v1/preview/runs/${project}/nobody`)).status).toBe(404)
    expect((await server.request('/v1/preview/runs')).status).toBe(422)
    const anonymous = await server.request(`/v1/preview/runs/${project}/r`, {
      headers: { authorization: '' },
    })
    expect(anonymous.status).toBe(401)
  })
})

describe('GET /v1/preview/runs/{entity}/{project}/{run}/metrics', () => {
  it('200 with the keys, or the points of the requested ones, oldest first', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = [0, 1, 2, 3].map((step) => ({
      _step: step,
      _timestamp: 1_700_000_000 + step,
      loss: step / 2,
      s: 'x',
    }))
    await stream(project, 'r', history(0, lines))
    await stream(project, 'r', {
      files: { 'wandb-events.jsonl': { offset: 0, content: ['{"system.cpu":3}'] } },
    })
    const path = `/v1/preview/runs/${project}/r/metrics`
    expect(await json(path)).toEqual({ keys: ['loss'], data: [] })
    expect(await json(`${path}?stream=system`)).toEqual({ keys: ['system.cpu'], data: [] })
    expect(await json(`${path}?keys=loss,nothing&after_step=0&limit=2`)).toEqual({
      keys: [],
      data: [
        {
          key: 'loss',
          points: [
            { step: 1, value: 0.5, time: '2023-11-14T22:13:21.000000Z' },
            { step: 2, value: 1, time: '2023-11-14T22:13:22.000000Z' },
          ],
          has_more: true,
        },
        { key: 'nothing', points: [], has_more: false },
      ],
    })
    for (const query of [
      'limit=x',
      'limit=10001',
      'samples=3',
      `keys=${'k,'.repeat(21)}`,
      'key=k&'.repeat(21),
      'stream=other',
    ]) {
      expect((await server.request(`${path}?${query}`)).status).toBe(422)
    }
    expect((await server.request(`/v1/preview/runs/${project}/nobody/metrics`)).status).toBe(404)
  })

  it('200 with points of keys that have commas, each in a parameter of its own', async () => {
    const project = server.newProject()
    await start(project, 'r')
    await stream(project, 'r', history(0, [{ _step: 0, 'acc, top 5': 1, b: 2, c: 3 }]))
    const query = 'keys=b&key=acc%2C%20top%205&key=c'
    const { data } = (await json(`/v1/preview/runs/${project}/r/metrics?${query}`)) as unknown as MetricsRes
    expect(data.map(({ key, points }) => [key, points.map(({ value }) => value)])).toEqual([
      ['b', [2]],
      ['acc, top 5', [1]],
      ['c', [3]],
    ])
  })

  it('200 with samples of a long curve: its ends, and the extremes of each stretch', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = Array.from({ length: 3_000 }, (_, step) => ({
      _step: step,
      up: step,
      spike: step === 1234 ? 100 : step === 2345 ? -100 : 0,
      ...(step % 100 === 0 && { few: step }),
      gap: 'NaN',
    }))
    // Wire: the bare word, as clients write it.
    const content = lines.map((line) => JSON.stringify(line).replace('"NaN"', 'NaN'))
    await stream(project, 'r', { files: { 'wandb-history.jsonl': { offset: 0, content } } })
    const query = 'keys=up,spike,few,gap&samples=40'
    const { data } = (await json(`/v1/preview/runs/${project}/r/metrics?${query}`)) as unknown as MetricsRes
    const [up, spike, few, gap] = data
    expect(up?.points).toHaveLength(20)
    expect(up?.has_more).toBe(true)
    expect(up?.points.slice(0, 2).map(({ step }) => step)).toEqual([0, 299])
    expect(up?.points.at(-1)).toMatchObject({ step: 2_999, value: 2_999 })
    const steps = spike?.points.map(({ step }) => step) ?? []
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(steps).toEqual(expect.arrayContaining([0, 1234, 2345, 2_999]))
    expect(steps.length).toBeLessThanOrEqual(40)
    expect(few).toMatchObject({ has_more: false })
    expect(few?.points.map(({ value }) => value)).toEqual(Array.from({ length: 30 }, (_, at) => at * 100))
    expect(gap?.points.at(-1)).toMatchObject({ step: 2_999, value: null })
  })
})
