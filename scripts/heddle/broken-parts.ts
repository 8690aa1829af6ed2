import { globSync } from 'node:fs'

/** Parts that ClickHouse has set aside because it could not read them: their folders, relative to the data folder. */
export function brokenPartsIn(dataFolder: string): string[] {
  return globSync('trace-db/store/*/*/detached/broken-on-start_*', { cwd: dataFolder })
}
