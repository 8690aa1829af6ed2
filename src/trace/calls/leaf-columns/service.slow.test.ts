import { describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../../stores/trace-db/port.ts'
import { useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import { leafColumnName } from '../sql/leaf-column.ts'
import { createProjectSize, LARGE_ROWS } from './project-size.ts'
import { createLeafColumns, type LeafColumns } from './service.ts'

const server = useTestServer()

function leafColumns(project: 'small' | 'large', warn = vi.fn()): LeafColumns {
  const projectSize = { isLarge: () => Promise.resolve(project === 'large') }
  return createLeafColumns({ traces: server.stores.traces, projectSize, log: { warn } })
}

const PATHS = ['output.score', "inputs.it's {odd}"]

describe('leaf columns', () => {
  it('are made for what is asked of a large project, and filled for older rows', async () => {
    const project = server.newProject()
    const calls = [1, 2].map((score) => finishedCall({ output: { score }, inputs: { "it's {odd}": score } }))
    await writeCalls(server, project, calls)
    const large = leafColumns('large')
    // It reads what there is again after some seconds, or when it has added a column.
    await vi.waitFor(async () => expect(await large.of(project, PATHS)).toEqual(new Set(PATHS)), {
      timeout: 200_000,
      interval: 200,
    })
    const sql = `SELECT ${leafColumnName(PATHS[0] ?? '')} AS leaf FROM calls FINAL WHERE project_id = {project_id:String} ORDER BY leaf`
    const rows = await rowsOf(server.stores.traces.query({ sql, params: { project_id: project } }))
    expect(rows).toEqual([{ leaf: '1' }, { leaf: '2' }])
    expect(await leafColumns('small').of(project, PATHS)).toEqual(new Set())
  })

  it('are done without where the database fails', async () => {
    const warn = vi.fn()
    async function* query() {
      yield* []
      throw new Error('it fails')
    }
    const traces = { ...server.stores.traces, query }
    const projectSize = { isLarge: () => Promise.resolve(true) }
    const failing = createLeafColumns({ traces, projectSize, log: { warn } })
    expect(await failing.of(server.newProject(), PATHS)).toEqual(new Set())
    expect(warn).toHaveBeenCalledOnce()
  })

  it('are for projects with many rows', async () => {
    const { traces } = server.stores
    const [few, many] = [server.newProject(), server.newProject()]
    await writeCalls(server, few, [finishedCall()])
    // Whole granules are counted.
    const sql = `INSERT INTO calls (project_id, id, has_start)
      SELECT {project_id:String}, toString(number), 1 FROM numbers(${LARGE_ROWS})`
    await traces.command({ sql, params: { project_id: many } })
    const { isLarge } = createProjectSize({ traces })
    expect(await Promise.all([few, many, server.newProject()].map(isLarge))).toEqual([false, true, false])
  })
})
