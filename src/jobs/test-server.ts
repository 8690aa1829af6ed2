import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { NO_PEERS } from '../stores/control-db/peers.ts'
import { openSqlite } from '../stores/control-db/sqlite.ts'
import { SILENT } from '../test-log.ts'
import { createJobQueue } from './job-queue.ts'

/** A program that runs jobs like a separate server: it records each in the file `done` of the folder, or hangs. */
const [folder = '', server = '', leaseMs = ''] = process.argv.slice(2)
const control = openSqlite(folder)
const queue = createJobQueue({
  control,
  log: SILENT,
  peers: { ...NO_PEERS, arePossible: true },
  leaseMs: Number(leaseMs),
})
queue.define({
  kind: 'work',
  payload: z.object({ hangsOn: z.string().nullable() }),
  concurrency: 2,
  attemptsMax: 2,
  async handle({ id, payload }) {
    process.stdout.write(`${id}\n`)
    if (payload.hangsOn === server) await new Promise(() => undefined)
    appendFileSync(join(folder, 'done'), `${server} ${id}\n`)
  },
  async giveUp() {},
})
await queue.start()
// Timers of the queue keep no process alive.
setInterval(() => undefined, 60_000)
