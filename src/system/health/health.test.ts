import { describe, expect, it } from 'vitest'
import { dependencyFailed, unavailable } from '../../errors.ts'
import { NOTHING_WATCHED } from '../../stores/control-db/port.ts'
import { fileError } from '../../stores/disk-errors.ts'
import { countWrites } from '../../stores/trace-db/counted.ts'
import { createWriteFailures } from '../../stores/write-failures.ts'
import { eventually } from '../../test-eventually.ts'
import { useTestServer } from '../../testing.ts'
import { NO_UNEXPECTED_ERRORS } from '../../unexpected-errors.ts'
import { createStoresHealth } from './stores-health.ts'
import { HealthRes } from './wire.ts'

const server = useTestServer({})

const NOT_STOPPING = new AbortController().signal

const compute = { statuses: () => [] }

/** The check of these stores, of a server that works otherwise. */
function healthOf(stores: Parameters<typeof createStoresHealth>[0]['stores']) {
  return createStoresHealth({
    stores,
    compute,
    unexpected: NO_UNEXPECTED_ERRORS,
    stopping: NOT_STOPPING,
  })
}

describe('GET /health', () => {
  it('200 without a key, when every store answers', async () => {
    const well = { ok: true, error: null }
    // A store may be late on a busy machine.
    await eventually(async () => {
      const response = await server.request('/health', { headers: { authorization: '' } })
      expect(response.status).toBe(200)
      expect(HealthRes.parse(await response.json())).toEqual({
        status: 'ok',
        stores: { trace_db: well, control_db: well, blobs: well },
        engine: [],
      })
    })
  })

  it('503 with the reason, within a bounded time, from one probe for all requests; 200 again when it is over', async () => {
    const { control, traces } = server.stores
    const stuck = Promise.withResolvers<void>()
    let puts = 0
    const blobs = {
      ...server.stores.blobs,
      put: () => {
        puts++
        return stuck.promise
      },
    }
    const health = healthOf({ ...server.stores, control, blobs, traces: countWrites(traces) })
    for (const reply of await Promise.all([health(), health()])) {
      expect(reply.status).toBe(503)
      expect(HealthRes.parse(JSON.parse(String(reply.body)))).toMatchObject({
        status: 'failing',
        reason: expect.stringContaining('blobs: no answer within 2 s'),
      })
    }
    expect(puts).toBe(1)
    stuck.resolve()
    await eventually(async () => expect((await health()).status).toBe(200))
  })
})

describe('GET /health after errors', () => {
  it('503 once the server is to stop', async () => {
    const stores = { ...server.stores, traces: countWrites(server.stores.traces) }
    const stopping = AbortSignal.abort()
    const reply = await createStoresHealth({ stores, compute, unexpected: NO_UNEXPECTED_ERRORS, stopping })()
    expect(reply.status).toBe(503)
    expect(HealthRes.parse(JSON.parse(String(reply.body)))).toMatchObject({
      status: 'failing',
      reason: 'the server is stopping: send requests to another one',
    })
  })

  it('503 while a table is closed', async () => {
    const traces = countWrites(server.stores.traces)
    const repairs = () => ({ done: 1, failed: 2, detached: ['calls'] })
    const stores = { ...server.stores, traces: { ...traces, repairs } }
    const reply = await healthOf(stores)()
    expect(reply.status).toBe(503)
    expect(HealthRes.parse(JSON.parse(String(reply.body)))).toMatchObject({
      reason: 'trace_db: closed until they can be repaired: calls',
    })
  })

  it.each([
    [200, 'degraded', { warnings: () => ['writes have waited'] }],
    [
      503,
      'failing',
      {
        check() {
          throw unavailable('takes none')
        },
      },
    ],
  ])('%i while the control database is %s', async (code, status, watched) => {
    const controlWatch = { ...NOTHING_WATCHED, ...watched }
    const stores = { ...server.stores, controlWatch, traces: countWrites(server.stores.traces) }
    const health = healthOf(stores)
    await eventually(async () => {
      const reply = await health()
      const reason = expect.stringMatching(/^control_db: (writes have waited|takes none)$/)
      expect({ code: reply.status, ...JSON.parse(String(reply.body)) }).toMatchObject({
        code,
        status,
        reason,
      })
    })
  })

  it('200 and degraded while the disk is full, since what is stored can be read', async () => {
    const writeFailures = createWriteFailures()
    const full = fileError(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }))
    const put = () => writeFailures.watched('blobs', () => Promise.reject(full))
    const blobs = { ...server.stores.blobs, put }
    const stores = { ...server.stores, blobs, writeFailures, traces: countWrites(server.stores.traces) }
    const health = healthOf(stores)
    // A store may be late on a busy machine.
    await eventually(async () => {
      const reply = await health()
      expect({ code: reply.status, ...HealthRes.parse(JSON.parse(String(reply.body))) }).toMatchObject({
        code: 200,
        status: 'degraded',
        reason: expect.stringMatching(/^blobs: the last write failed: The disk of the data folder is full/),
      })
    })
  })

  it.each(['trace_db', 'control_db', 'blobs'] as const)(
    '200 and degraded from a write to %s that failed until one succeeds, with the reason',
    async (store) => {
      const writeFailures = createWriteFailures()
      const stores = { ...server.stores, writeFailures, traces: countWrites(server.stores.traces) }
      const health = healthOf(stores)
      const answer = async () => {
        const reply = await health()
        return { code: reply.status, ...HealthRes.parse(JSON.parse(String(reply.body))) }
      }
      const full = dependencyFailed('The disk is full', new Error('ENOSPC'))
      await expect(writeFailures.watched(store, () => Promise.reject(full))).rejects.toThrow()
      const reason = `${store}: the last write failed: The disk is full`
      const degraded = { code: 200, status: 'degraded', reason }
      await eventually(async () => expect(await answer()).toMatchObject(degraded))
      // A request that was refused before the disk was used shows nothing about the disk.
      const refused = writeFailures.watched(store, () => Promise.reject(unavailable('Too many')))
      await expect(refused).rejects.toThrow()
      await eventually(async () => expect(await answer()).toMatchObject(degraded))
      await writeFailures.watched(store, async () => undefined)
      await eventually(async () => expect(await answer()).toMatchObject({ code: 200, status: 'ok' }))
    },
  )

  it('200 and degraded after an error that no code has caught', async () => {
    const stores = { ...server.stores, traces: countWrites(server.stores.traces) }
    const unexpected = { count: () => 3, isRecent: () => true }
    const reply = await createStoresHealth({ stores, compute, unexpected, stopping: NOT_STOPPING })()
    expect(reply.status).toBe(200)
    expect(HealthRes.parse(JSON.parse(String(reply.body)))).toMatchObject({
      status: 'degraded',
      reason: '3 unexpected errors since the start, see the log',
    })
  })
})
