import { Readable } from 'node:stream'
import type { Contents } from '../contents/service.ts'
import type { RawReply } from '../http/route.ts'

/**
 * Streams a content, whole or the requested range; undefined where its bytes are gone. The blob is opened before the
 * reply begins, so that a read error is an error reply and not half a reply.
 */
export async function sendFile(
  contents: Pick<Contents, 'open'>,
  file: { digest: string; size: number; range: string | undefined },
): Promise<RawReply | undefined> {
  const range = rangeOf(file.range, file.size)
  const headers = { 'content-type': 'application/octet-stream', 'accept-ranges': 'bytes' }
  if (range === 'unsatisfiable') {
    return { status: 416, headers: { ...headers, 'content-range': `bytes */${file.size}` }, body: '' }
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  const found = await contents.open(file.digest, range)
  if (found === undefined) return undefined
  const contentRange = range && { 'content-range': `bytes ${start}-${end}/${file.size}` }
  return {
    status: range === undefined ? 200 : 206,
    headers: { ...headers, ...contentRange, 'content-length': String(end - start + 1) },
    // Node's type of web streams differs from the global one, but at run time they are the same.
    body: Readable.toWeb(found.bytes) as ReadableStream<Uint8Array>,
  }
}

/** A smaller file is sent sooner than a client asks at another address. */
const DIRECT_BYTES_MIN = 8 * 1024 ** 2

/**
 * Sends a client that shows no key to where the bytes of a large file are, or streams them as {@link sendFile}. Some
 * clients would show a key there as well, which S3 refuses.
 */
export async function sendFileDirectly(
  contents: Pick<Contents, 'open' | 'directUrl'>,
  file: { digest: string; size: number; range: string | undefined },
): Promise<RawReply | undefined> {
  const location = file.size < DIRECT_BYTES_MIN ? undefined : await contents.directUrl(file.digest)
  return location === undefined ? sendFile(contents, file) : { status: 307, headers: { location }, body: '' }
}

/** One range of bytes; several ranges, or an invalid one, are answered with the whole. */
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
