import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What a release wrote: its data folder in `data/`, and in `reads.json` what it then answered. */
export const ARCHIVE = join(import.meta.dirname, 'release.tar.gz')

/** A question about what is in the data folder, and the answer of the release that wrote it. */
export interface Read {
  method: string
  path: string
  body?: object
  /** JSON, a list for JSON lines, or the text itself. */
  answer: unknown
}

const run = promisify(execFile)

/** Packs a folder that has `data/` and `reads.json`. */
export async function pack(folder: string): Promise<void> {
  await run('tar', ['-czf', ARCHIVE, '-C', folder, 'data', 'reads.json'])
}

/** Unpacks it into a folder. */
export async function unpack(folder: string): Promise<void> {
  await run('tar', ['-xzf', ARCHIVE, '-C', folder])
}

/** A body as it is compared: clients read values, not spaces. */
export function answerOf(text: string, contentType: string | null): unknown {
  if (contentType?.includes('jsonl'))
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line))
  return contentType?.includes('json') ? JSON.parse(text) : text
}
