import type { Contents } from '../../contents/service.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { pageFiles } from './queries.ts'

/** Files whose rows are read at once, within some milliseconds. */
const FILES_AT_ONCE = 1_000

/** Releases the bytes of all files of a run, whose rows stay. */
export async function releaseFiles(
  { control, contents }: { control: ControlDb; contents: Contents },
  run_id: string,
): Promise<void> {
  let after: string | undefined = ''
  while (after !== undefined) {
    const page = { run_id, names: [], pattern: undefined, after, limit: FILES_AT_ONCE }
    const files = await pageFiles(control, page)
    await contents.release(files.map((file) => file.owner))
    after = files.at(-1)?.name
  }
}
