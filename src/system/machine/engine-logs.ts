import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { notFound } from '../../errors.ts'
import { LOG_NAME } from '../../stores/processes/log-folder.ts'
import type { EngineLogPieceRes, EngineLogQuery, EngineLogsRes } from './wire.ts'

const NEWLINE = 0x0a

/** Reads what the programs of the engine write into `folder`. */
export interface EngineLogs {
  list(): Promise<z.input<typeof EngineLogsRes>>
  /** @throws 404 for a name that is not in the list: a caller's name is never used as a path. */
  read(req: EngineLogQuery & { name: string }): Promise<z.input<typeof EngineLogPieceRes>>
}

export function createEngineLogs(folder: string): EngineLogs {
  async function names(): Promise<string[]> {
    const found = await readdir(folder).catch(() => [])
    return found.filter((name) => LOG_NAME.test(name))
  }

  async function list(): Promise<z.input<typeof EngineLogsRes>> {
    const logs = await Promise.all(
      (await names()).map(async (name) => {
        // It may have been removed since.
        const found = await stat(join(folder, name)).catch(() => undefined)
        return found && { name, size_bytes: found.size, changed_at: found.mtime.toISOString() }
      }),
    )
    const known = logs.filter((log) => log !== undefined)
    return { logs: known.sort((a, b) => b.changed_at.localeCompare(a.changed_at)) }
  }

  async function read({
    name,
    from,
    bytes_max,
  }: EngineLogQuery & { name: string }): Promise<z.input<typeof EngineLogPieceRes>> {
    if (!(await names()).includes(name)) throw notFound('log', name)
    await using file = await open(join(folder, name))
    const { size } = await file.stat()
    const start = from === undefined || from > size ? Math.max(0, size - bytes_max) : from
    // One byte before shows whether a line begins where the piece does.
    const first = Math.max(0, start - 1)
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(bytes_max, size - start) + start - first),
      position: first,
    })
    const bytes = buffer.subarray(0, bytesRead)
    const begin = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
    const end = bytes.lastIndexOf(NEWLINE) + 1
    // An incomplete last line is left out.
    if (end === 0 || end <= begin) return { name, size_bytes: size, from: start, until: start, text: '' }
    const text = bytes.toString('utf8', begin, end)
    return { name, size_bytes: size, from: first + begin, until: first + end, text }
  }

  return { list, read }
}
