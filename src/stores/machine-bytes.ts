import { totalmem } from 'node:os'

/** The memory of the machine, or of the container that this server runs in. */
export function machineBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
