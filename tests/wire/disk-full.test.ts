import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { createDiskFiller } from './disk-filler.ts'
import { startServer, type WireServer } from './server.ts'
import { TRAINER_ALONE } from './trainer-alone.ts'
import { groups, trainingClient } from './training-client.ts'
import { until } from './until.ts'

let server: WireServer

beforeAll(async () => {
  server = await startServer(TRAINER_ALONE, { diskMegabytes: 96 })
})
afterAll(() => server[Symbol.asyncDispose]())

const { request, call, newModel, startJob, firstStep, end, newest } = trainingClient(() => server)

/** The server's small disk, which is mounted only for it. */
function disk(): string {
  return `/proc/${server.processes(SERVER_PROGRAM)[0]}/root${join(server.folder, 'data')}`
}

const { fill, free } = createDiskFiller(disk)

describe('a full disk', () => {
  it('has a running job wait, or end with a cause; nothing is lost, and with free space everything goes on', async () => {
    const model = await newModel()
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    const job = await startJob(model.id, groups(48))
    await firstStep(job)
    fill()
    // While nothing can be written, what became of the attempt at the job cannot be written either.
    await until(async () => {
      const { state } = await call('GET', `/v1/preview/training-jobs/${job}`)
      return state === 'failed' || server.log().includes('could not be written yet') ? true : undefined
    })
    // The end of an attempt frees the space of its files, which is less than the next write needs.
    fill()
    const refused = await request('POST', '/v1/preview/training-jobs', {
      model_id: model.id,
      trajectory_groups: groups(100),
    })
    expect(refused.status).toBe(503)
    expect(await refused.text()).toMatch(/disk .*full/)

    free()
    const last = await end(job)
    // The job waits where the server is the first to find the disk full, and ends where its trainer is.
    if (last.type === 'training_failed') expect(last.data['error_message']).toMatch(/disk|space/i)
    else expect(last.type).toBe('training_ended')
    const step = last.type === 'training_failed' ? 1 : 2
    expect((await newest(model.id)).step).toBe(step)
    expect((await end(await startJob(model.id, groups(2)))).type).toBe('training_ended')
    expect((await newest(model.id)).step).toBe(step + 1)
  })
})

describe('a start on a full disk', () => {
  it('ends with that cause, and what to do', async () => {
    // All but a mebibyte, so that the lock of the folder still fits.
    const fullDisk =
      'mount -t tmpfs -o size=48m tmpfs "$HEDDLE_DATA" && head -c 47m /dev/zero > "$HEDDLE_DATA/filler" && exec "$@"'
    const start = startServer({}, { launcher: ['unshare', '-Urm', 'sh', '-c', fullDisk, 'sh'] })
    await expect(start).rejects.toThrow(
      'The disk of the data folder is full: free some space and start again',
    )
  })
})
