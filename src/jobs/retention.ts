import type { Log } from '../log.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'
import * as queries from './queries.ts'

/** Long enough to see in the database why something failed the day before. */
const KEPT_MS = 24 * 3_600_000

/** Finished jobs of one kind that are kept, about 1 kB each. */
const KEPT_MAX = 10_000

const REMOVE_EVERY_MS = 60_000

/** Removes finished jobs from time to time, until disposal. */
export function startRetention({
  control,
  log,
  kinds,
}: {
  control: ControlDb
  log: Log
  kinds: ReadonlyMap<string, unknown>
}): Disposable {
  async function remove(): Promise<void> {
    for (const kind of kinds.keys())
      await queries.removeFinished(control, { kind, before: isoIn(-KEPT_MS), keep: KEPT_MAX })
  }
  const timer = setInterval(() => {
    remove().catch((error: unknown) => log.error({ err: error }, 'finished jobs could not be removed'))
  }, REMOVE_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
