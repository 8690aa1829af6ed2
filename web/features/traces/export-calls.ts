import type { Call, CallsRequest } from '../../api/calls.ts'
import { textLines } from '../../api/client.ts'
import { notify } from '../../components/toast.ts'
import { rowOf } from './call-row.ts'
import { columnOf, pathsOf } from './columns.tsx'

export type ExportFormat = 'csv' | 'jsonl'

interface ExportOptions {
  request: CallsRequest
  /** Columns of a CSV, in order. */
  ids: readonly string[]
  format: ExportFormat
  onProgress: (calls: number) => void
}

/** Text is handed to the browser in pieces of so many characters, which it may keep on disk. */
const PIECE_CHARS = 4_000_000
const PROGRESS_CALLS = 500

/** Saves all calls of a list as a file, as they stream in. */
export async function exportCalls(
  project: string,
  { request, ids, format, onProgress }: ExportOptions,
): Promise<void> {
  const columns = ids.map(columnOf)
  const paths = pathsOf(ids)
  const asCsv = (line: string) => {
    const row = rowOf(JSON.parse(line) as Call, paths)
    return columns.map((column) => csvField(column.text(row))).join(',')
  }
  const pieces: Blob[] = []
  let text = format === 'csv' ? `${columns.map(({ title }) => csvField(title)).join(',')}\n` : ''
  let calls = 0
  // Whole calls are wanted, not those payloads alone that the table shows.
  const { columns: _shown, ...whole } = request
  const body = { project_id: project, ...(format === 'csv' ? request : whole) }
  try {
    for await (const line of textLines('/calls/stream_query', { body })) {
      text += `${format === 'csv' ? asCsv(line) : line}\n`
      if (++calls % PROGRESS_CALLS === 0) onProgress(calls)
      if (text.length < PIECE_CHARS) continue
      pieces.push(new Blob([text]))
      text = ''
    }
    pieces.push(new Blob([text]))
    download(
      new Blob(pieces, { type: format === 'csv' ? 'text/csv' : 'application/jsonl' }),
      fileName(project, format),
    )
    notify({ title: `${calls.toLocaleString('en')} calls saved` })
  } catch (error) {
    notify({ title: 'The export failed', detail: error instanceof Error ? error.message : String(error) })
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

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
