import type { Call, CallsRequest } from '../../api/calls.ts'
import { textLines } from '../../api/client.ts'
import { parseJson } from '../../api/json.ts'
import { messageOf } from '../../components/message-of.ts'
import { saveFile } from '../../components/save-file.ts'
import { notify } from '../../components/toast.ts'
import { rowOf, wholeText } from './call-row.ts'
import { columnOf, pathsOf } from './columns.tsx'

export type ExportFormat = 'csv' | 'jsonl'

interface ExportOptions {
  /** Lists whose calls follow one another. */
  requests: readonly CallsRequest[]
  /** Columns of a CSV, in order. */
  ids: readonly string[]
  format: ExportFormat
  /** Leaves out what is not chosen of the list. */
  isWanted?: (id: string) => boolean
  signal?: AbortSignal
  onProgress: (calls: number) => void
}

/** Text is handed to the browser in pieces of so many characters, which it may keep on disk. */
const PIECE_CHARS = 4_000_000
const PROGRESS_CALLS = 500

/**
 * Saves all calls of a list as a file, as they stream in; the header of a CSV has the ids of its columns, no two of
 * which are the same.
 */
export async function exportCalls(
  project: string,
  { requests, ids, format, isWanted, signal, onProgress }: ExportOptions,
): Promise<void> {
  const columns = ids.map(columnOf)
  const paths = pathsOf(ids)
  const asCsv = (call: Call) => {
    const row = rowOf(call, paths, wholeText)
    return columns.map((column) => csvField(column.text(row))).join(',')
  }
  const textOf = (line: string) => {
    if (format === 'jsonl' && isWanted === undefined) return line
    const call = parseJson(line) as Call
    if (isWanted?.(call.id) === false) return undefined
    return format === 'csv' ? asCsv(call) : line
  }
  const pieces: Blob[] = []
  let text = format === 'csv' ? `${ids.map(csvField).join(',')}\n` : ''
  let calls = 0
  try {
    for await (const line of linesOf(project, requests, { format, signal })) {
      const entry = textOf(line)
      if (entry === undefined) continue
      text += `${entry}\n`
      if (++calls % PROGRESS_CALLS === 0) onProgress(calls)
      if (text.length < PIECE_CHARS) continue
      pieces.push(new Blob([text]))
      text = ''
    }
    pieces.push(new Blob([text]))
    saveFile(
      new Blob(pieces, { type: format === 'csv' ? 'text/csv' : 'application/jsonl' }),
      fileName(project, format),
    )
    notify({ title: `${calls.toLocaleString('en')} calls saved` })
  } catch (error) {
    if (signal?.aborted) return
    notify({ title: 'The export failed', detail: messageOf(error) })
  }
}

async function* linesOf(
  project_id: string,
  requests: readonly CallsRequest[],
  { format, signal }: { format: ExportFormat; signal: AbortSignal | undefined },
): AsyncGenerator<string> {
  for (const request of requests) {
    // Whole calls are exported, not only the payloads that the table shows.
    const { columns: _shown, ...whole } = request
    const body = { project_id, ...(format === 'csv' ? request : whole) }
    yield* textLines('/calls/stream_query', { body, signal })
  }
}

/** A text that a spreadsheet would take for a formula is kept a text. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+(e-?\d+)?$/i.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function fileName(project: string, format: ExportFormat): string {
  return `${project.replaceAll('/', '-')}-calls-${new Date().toISOString().slice(0, 16).replace(':', '')}.${format}`
}
