import type { Contents } from '../../contents/service.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { pagesByName } from '../pages-by-name.ts'
import { pageFiles } from './queries.ts'

/** Files whose rows are read at once, within some milliseconds. */
const FILES_AT_ONCE = 1_000

/** Releases the bytes of all files of a run, whose rows stay. */
export async function releaseFiles(
  { control, contents }: { control: ControlDb; contents: Contents },
  run_id: string,
): Promise<void> {
  const every = { run_id, names: [], pattern: undefined, limit: FILES_AT_ONCE }
  for await (const files of pagesByName((after) => pageFiles(control, { ...every, after })))
    await contents.release(files.map((file) => file.owner))
}
