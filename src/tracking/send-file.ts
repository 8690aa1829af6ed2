import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { RawReply } from '../http/route.ts'

/** Streams a file of this machine, whole or the one range that was asked for. */
export async function sendFile(file: {
  path: string
  size: number
  range: string | undefined
}): Promise<RawReply> {
  const range = rangeOf(file.range, file.size)
  const headers = { 'content-type': 'application/octet-stream', 'accept-ranges': 'bytes' }
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${file.size}` }, body: '' }
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  const contentRange = range && { 'content-range': `bytes ${start}-${end}/${file.size}` }
  return {
    status: range === undefined ? 200 : 206,
    headers: { ...headers, ...contentRange, 'content-length': String(end - start + 1) },
    body: file.size === 0 ? '' : await streamOf(file.path, { start, end }),
  }
}

/** Opens the file first, so that one that cannot be read is an error and not half a reply. */
async function streamOf(
  path: string,
  range: { start: number; end: number },
): Promise<ReadableStream<Uint8Array>> {
  const handle = await open(path)
  // Node's type of web streams is not the global one, which it is at run time.
  return Readable.toWeb(handle.createReadStream(range)) as ReadableStream<Uint8Array>
}

/** One range of bytes; several at once, and what is no range, are answered with the whole. */
function rangeOf(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start > end ? 'unsatisfiable' : { start, end }
}
