import { coreShare } from './process-cost.ts'

/** Less than this of a core means that merges have ended. */
const IDLE_SHARE = 0.05
const LOOK_MS = 5000
/** Indexes are built once no rows have arrived for a minute or more, so it has to be idle for longer than that. */
const IDLE_LOOKS = 24

/** Waits until the background work of a server has ended, at most for some milliseconds. */
export async function untilIdle({ pid }: { pid: number }, msMax: number): Promise<void> {
  let idleLooks = 0
  for (const deadline = Date.now() + msMax; Date.now() < deadline && idleLooks < IDLE_LOOKS; ) {
    const share = await coreShare(pid, LOOK_MS)
    if (share === undefined) return
    idleLooks = share < IDLE_SHARE ? idleLooks + 1 : 0
  }
}
