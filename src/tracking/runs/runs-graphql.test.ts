import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'
import { createRunClient } from './run-client.ts'

const server = useTestServer()
const client = createTestClient(server)
const { start, stream, history, runOf } = createRunClient(server, client)

describe('POST /graphql, runs', () => {
  it('200 for a run that starts, fails and continues', async () => {
    const project = server.newProject()
    expect(await start(project, 'r', { displayName: 'Shown', config: '{"a":{"value":1}}' })).toMatchObject({
      inserted: true,
      bucket: { name: 'r', displayName: 'Shown', state: 'running', historyLineCount: 0 },
    })
    await stream(
      project,
      'r',
      history(0, [
        { _step: 0, v: 1 },
        { _step: 1, v: 2 },
      ]),
    )
    await stream(project, 'r', { complete: true, exitcode: 2 })
    expect(await runOf(project, 'r', 'state')).toEqual({ state: 'failed' })
    const status = await client.ask(
      `query { model(name: "${project.slice(5)}", entityName: "test") { bucket(name: "r", missingOk: true) {
        historyLineCount historyTail eventsTail config wandbConfig(keys: ["t"]) }
        missing: bucket(name: "nobody", missingOk: true) { id } } }`,
    )
    expect(status.data.model).toMatchObject({
      bucket: {
        historyLineCount: 2,
        historyTail: expect.stringContaining('\\"_step\\":1'),
        eventsTail: '[]',
        config: '{"a":{"value":1}}',
        wandbConfig: '{}',
      },
      missing: null,
    })
    expect(await start(project, 'r')).toMatchObject({ inserted: false, bucket: { state: 'running' } })
    await stream(project, 'r', history(2, [{ _step: 2, v: 3 }]))
    expect(await runOf(project, 'r', 'state historyLineCount history(minStep: 1, maxStep: 3)')).toMatchObject(
      {
        state: 'running',
        historyLineCount: 3,
        history: [expect.stringContaining('"v":2'), expect.stringContaining('"v":3')],
      },
    )
  })

  it('200 with an error for runs of the project of runs and so on', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const nested = (levels: number): string =>
      `runs { edges { node { name ${levels > 1 ? `project { ${nested(levels - 1)} }` : ''} } } }`
    const asked = (levels: number) =>
      client.ask(`{ project(name: "${project.slice(5)}", entityName: "test") { ${nested(levels)} } }`)
    expect((await asked(3)).errors).toBeUndefined()
    expect(await asked(5)).toMatchObject({
      data: null,
      errors: [{ message: 'A document may read 16 levels deep' }],
    })
  })

  it('200 for a resume by id and name, after which the run has not ended', async () => {
    const project = server.newProject()
    const { bucket } = await start(project, 'r')
    await stream(project, 'r', { complete: true, exitcode: 1 })
    const shown = async () => (await server.request(`/v1/preview/runs/${project}/r`)).json()
    expect(await shown()).toMatchObject({ state: 'failed', exit_code: 1, ended_at: expect.any(String) })
    const resumed = await start(project, 'r', { id: bucket.id })
    expect(resumed).toMatchObject({ inserted: false, bucket: { id: bucket.id, state: 'running' } })
    expect(await shown()).toMatchObject({ state: 'running', exit_code: null, ended_at: null })
  })

  it('200 for a change by id alone, which does not start the run again', async () => {
    const project = server.newProject()
    const { bucket } = await start(project, 'r')
    await stream(project, 'r', { complete: true, exitcode: 0 })
    const fields = 'bucket { state notes tags group jobType config summaryMetrics }'
    const changed = await client.mutate('upsertBucket', fields, {
      id: bucket.id,
      notes: 'n',
      tags: ['a'],
      groupName: 'g',
      jobType: 'j',
      config: '{"b":{"value":2}}',
      summaryMetrics: '{"x":NaN}',
    })
    expect(changed.bucket).toEqual({
      state: 'finished',
      notes: 'n',
      tags: ['a'],
      group: 'g',
      jobType: 'j',
      config: '{"b":{"value":2}}',
      summaryMetrics: '{"x":NaN}',
    })
    for (const input of [
      { id: 'x' },
      { id: 'UnVuOng=' },
      { id: bucket.id, config: '[1]' },
      { id: bucket.id, state: 'x' },
      { id: bucket.id, notes: 'x'.repeat(100_001) },
    ]) {
      await expect(client.mutate('upsertBucket', 'inserted', input)).rejects.toThrow()
    }
  })

  it('200 with errors for names that no run can have', async () => {
    for (const name of ['', 'a/b', 'x'.repeat(129), 'a:b']) {
      await expect(start(server.newProject(), name)).rejects.toThrow('The id of a run')
    }
    await expect(start('test/a/b', 'r')).rejects.toThrow('project')
  })

  it('200 with errors for runs that would lack what their programs log, which are not made', async () => {
    const project = server.newProject()
    const config = (run_id: string) =>
      JSON.stringify({ _wandb: { value: { branch_point: { run_id, step: 3 } } } })
    await expect(start(project, 'new', { config: config('old') })).rejects.toThrow('the history of old')
    expect(await start(project, 'old', { config: config('old') })).toMatchObject({ inserted: true })
    await expect(start(project, 'old', { config: config('other') })).rejects.toThrow('the history of other')
    const headers = { 'x-wandb-use-async-filestream': 'true' }
    const query = `mutation { upsertBucket(input: { entityName: "test", modelName: "${project.slice(5)}", name: "s" }) { inserted } }`
    const init = { method: 'POST', headers, body: JSON.stringify({ query }) }
    const refused = expect.stringContaining('mode="shared"')
    expect(await (await server.request('/graphql', init)).json()).toMatchObject({
      errors: [{ message: refused }],
    })
    const sent = await server.request(`/files/${project}/old/file_stream`, {
      method: 'POST',
      headers,
      body: '{}',
    })
    expect(sent.status).toBe(400)
    expect(await runOf(project, 'new', 'name').catch(String)).toBeNull()
  })

  it('200 for a run that is rewound, which goes on from that step, and errors for steps that it has not', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = Array.from({ length: 10 }, (_, step) => ({ _step: 2 * step, v: step }))
    await stream(project, 'r', {
      files: {
        ...history(0, lines).files,
        'wandb-events.jsonl': { offset: 0, content: ['{"cpu":1}'] },
        'output.log': { offset: 0, content: ['before'] },
        'wandb-summary.json': { offset: 0, content: ['{"_step":18,"v":9}'] },
      },
      complete: true,
      exitcode: 1,
    })
    const fields = 'rewoundRun { id name historyLineCount project { name entity { name } } }'
    const rewind = (metricValue: number, metricName = '_step') =>
      client.mutate('rewindRun', fields, {
        ...{ entityName: 'test', projectName: project.slice(5), runName: 'r' },
        ...{ metricName, metricValue },
      })
    for (const bad of [-1, 1.5, 19]) await expect(rewind(bad)).rejects.toThrow('one of its steps')
    await expect(rewind(3, 'loss')).rejects.toThrow('not a loss')
    for (const _ of ['', 'again'])
      expect(await rewind(9)).toMatchObject({ rewoundRun: { name: 'r', historyLineCount: 5 } })
    const shown = 'state historyLineCount eventsLineCount logLineCount summaryMetrics history'
    const rewound = await runOf(project, 'r', shown)
    expect(rewound).toMatchObject({
      state: 'running',
      historyLineCount: 5,
      eventsLineCount: 0,
      logLineCount: 0,
    })
    expect(JSON.parse(rewound.summaryMetrics)).toMatchObject({ _step: 8, v: 4 })
    await stream(project, 'r', history(5, [{ _step: 10, v: 100 }]))
    const { history: after } = await runOf(project, 'r', 'history')
    expect(after.map((line: string) => JSON.parse(line).v)).toEqual([0, 1, 2, 3, 4, 100])
  })

  it('200 with samples spread over the steps that have all keys', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = Array.from({ length: 2_000 }, (_, step) => ({
      _step: step,
      loss: step,
      ...(step % 96 === 0 && { acc: step }),
    }))
    await stream(project, 'r', history(0, lines))
    const spec = JSON.stringify({ keys: ['_step', 'loss', 'acc'], samples: 20 })
    const { sampledHistory } = await runOf(project, 'r', `sampledHistory(specs: [${JSON.stringify(spec)}])`)
    const steps = Array.from({ length: 11 }, (_, index) => 2 * 96 * index)
    expect(sampledHistory).toEqual([steps.map((step) => ({ loss: step, acc: step, _step: step }))])
  })

  it('200 with the newest lines of a log, as many as a page has', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const content = Array.from({ length: 12_000 }, (_, line) => `line ${line}`)
    await stream(project, 'r', { files: { 'output.log': { offset: 0, content } } })
    const numbers = async (args: string): Promise<number[]> => {
      const { logLines } = await runOf(project, 'r', `logLines(${args}) { edges { node { number } } }`)
      return logLines.edges.map(({ node }: { node: { number: number } }) => node.number)
    }
    const last = await numbers('last: 8000')
    expect([last.length, last[0], last.at(-1)]).toEqual([5_000, 7_000, 11_999])
    expect(await numbers('last: 2')).toEqual([11_998, 11_999])
    expect(await numbers('first: 2, after: "7"')).toEqual([8, 9])
    for (const none of ['', ', after: null', ', after: ""'])
      expect(await numbers(`first: 2${none}`)).toEqual([0, 1])
    for (const cursor of ['-5', 'abc', '1.5', '9'.repeat(20)])
      await expect(numbers(`after: "${cursor}"`)).rejects.toThrow(
        'The cursor of a log is the number of a line',
      )
  })

  it('200 with an error for more names than a statement takes', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const names = Array.from({ length: 33_000 }, (_, index) => String(index))
    const asked = [
      `runs(filters: ${JSON.stringify(JSON.stringify({ name: { $in: names } }))}) { edges { node { id } } }`,
      `runCount(filters: ${JSON.stringify(JSON.stringify({ name: { $in: names } }))})`,
      'run(name: "r") { files(names: $names) { edges { node { id } } } }',
    ]
    for (const field of asked) {
      const variables = field.includes('$names') ? '($names: [String])' : ''
      const query = `query ${variables} { project(name: "${project.slice(5)}", entityName: "test") { ${field} } }`
      const { errors } = await client.ask(query, { names })
      expect(errors[0].message).toBe('Ask for 4000 names at once at most, not 33000')
    }
  })

  it('200 with samples that have all keys, and errors for a sample of another shape', async () => {
    const project = server.newProject()
    await start(project, 'r')
    const lines = Array.from({ length: 100 }, (_, step) => ({
      _step: step,
      a: step,
      ...(step % 2 && { b: 1 }),
    }))
    await stream(project, 'r', history(0, lines))
    const sample = (spec: string) =>
      runOf(
        project,
        'r',
        `sampledHistory(specs: [${JSON.stringify(spec)}]) parquetHistory(liveKeys: []) { parquetUrls liveData }`,
      )
    const { sampledHistory, parquetHistory } = await sample('{"keys":["_step","a"],"samples":4}')
    expect(sampledHistory).toEqual([[0, 25, 50, 75].map((step) => ({ a: step, _step: step }))])
    expect(parquetHistory).toEqual({ parquetUrls: [], liveData: [{ _step: 0 }] })
    const both = await sample('{"keys":["a","b"],"samples":100}')
    expect(both.sampledHistory[0]).toHaveLength(50)
    const twice = await sample('{"keys":["a","a"],"samples":4}')
    expect(twice.sampledHistory).toEqual([[0, 25, 50, 75].map((step) => ({ a: step }))])
    const range = await sample('{"keys":["_step"],"minStep":20,"maxStep":59,"samples":4}')
    expect(range.sampledHistory).toEqual([[20, 30, 40, 50].map((step) => ({ _step: step }))])
    await expect(sample('{"keys":["a"],"every":2}')).rejects.toThrow('minStep and maxStep, not every')
    await expect(sample('{"samples":100001}')).rejects.toThrow('Ask for 1 to 100000 steps')
    const specs = JSON.stringify(Array(21).fill('{"keys":["a"],"samples":1}'))
    await expect(runOf(project, 'r', `sampledHistory(specs: ${specs})`)).rejects.toThrow('At most 20 samples')
    const keys = (count: number) =>
      JSON.stringify({ keys: Array.from({ length: count }, (_, key) => `k${key}`) })
    expect((await sample(keys(10_000))).sampledHistory).toEqual([[]])
    await expect(sample(keys(10_001))).rejects.toThrow('A sample has 10000 keys at most, not 10001')
    for (const bad of ['{"keys":1}', 'x', '{"samples":0}'])
      await expect(sample(bad)).rejects.toThrow('sample')
  })
})

describe('PUT and GET /storage/run-files/{run_id}', () => {
  it('200 for files by signed URL, replaced by newer ones, and for a run that is deleted with all of it', async () => {
    const project = server.newProject()
    const { bucket } = await start(project, 'r')
    const of = { entityName: 'test', projectName: project.slice(5), runName: 'r' }
    const upload = async (name: string, body: string, headers: Record<string, string> = {}) => {
      const { files } = await client.mutate('createRunFiles', 'runID files { name uploadUrl }', {
        ...of,
        files: [name],
      })
      return client.follow(files[0].uploadUrl, { method: 'PUT', body, headers })
    }
    expect((await upload('media/a.txt', 'old')).status).toBe(200)
    expect((await upload('media/a.txt', 'new')).status).toBe(200)
    expect((await upload('b', 'x', { 'content-md5': 'AAAA' })).status).toBe(400)
    const { files, fileCount } = await runOf(
      project,
      'r',
      'fileCount files(names: []) { edges { node { name sizeBytes url directUrl md5 } } }',
    )
    expect([fileCount, files.edges.length, files.edges[0].node.sizeBytes]).toEqual([1, 1, 3])
    const { directUrl } = files.edges[0].node
    expect(await (await client.follow(directUrl)).text()).toBe('new')
    expect((await client.follow(directUrl.replace('media', 'other'))).status).toBe(403)
    for (const bad of [
      { runName: 'nobody', files: ['a'] },
      { files: [''] },
      { files: Array(100_001).fill('a') },
    ]) {
      await expect(client.mutate('createRunFiles', 'runID', { ...of, ...bad })).rejects.toThrow()
    }

    const many = Array.from({ length: 20_000 }, (_, index) => `media/${index}.png`)
    const urls = await client.mutate('createRunFiles', 'files { name uploadUrl }', { ...of, files: many })
    expect(urls.files.map(({ name }: { name: string }) => name)).toEqual(many)
    expect((await client.follow(urls.files.at(-1).uploadUrl, { method: 'PUT', body: 'x' })).status).toBe(200)

    await stream(project, 'r', history(0, [{ _step: 0, v: 1 }]))
    await client.mutate('deleteRun', 'clientMutationId', { id: bucket.id })
    await expect(client.mutate('deleteRun', 'clientMutationId', { id: bucket.id })).rejects.toThrow(
      'not found',
    )
    expect((await client.follow(directUrl)).status).toBe(404)
    await start(project, 'r')
    expect(await runOf(project, 'r', 'history fileCount historyLineCount')).toEqual({
      history: [],
      fileCount: 0,
      historyLineCount: 0,
    })
  })
})
