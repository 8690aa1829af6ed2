import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fills the small disk of a server. */
export interface DiskFiller {
  /** Takes all free space; the server can still use what it frees afterwards. */
  fill(): void
  free(): void
}

/** @param folder on the disk, as this process reaches it */
export function createDiskFiller(folder: () => string): DiskFiller {
  const files: string[] = []
  return {
    fill() {
      const { bavail, bsize } = statfsSync(folder())
      const file = join(folder(), `filler-${files.length}`)
      files.push(file)
      try {
        writeFileSync(file, Buffer.alloc(bavail * bsize))
      } catch (error) {
        // The server wrote at the same time: the disk is full all the same.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      }
    },
    free() {
      for (const file of files.splice(0)) rmSync(file)
    },
  }
}
