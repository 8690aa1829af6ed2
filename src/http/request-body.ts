import { ClientError, invalidRequest, tooLarge, unsupportedMediaType } from '../errors.ts'
import { type KeepShape, parseKeeping } from '../lossless-json.ts'
import type { HeldBody } from './held-bodies.ts'
import type { UploadedFile } from './route.ts'
import { jsonInvalid, ValidationFailure } from './validation-error.ts'

/** Wire: the trace service takes 32 MiB a request and its clients cut their batches at 31 MiB. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024

/** A body announced as larger is counted as it comes, so that nobody takes room for bytes that are never sent. */
const READ_AT_ONCE_BYTES_MAX = 1024 * 1024

/** How much of a body may be read. */
export interface BodyLimits {
  /** Of this one. */
  bytesMax: number
  held: HeldBody
}

/** Reads a whole body. @throws 413 as soon as more than `bytesMax` have been announced or seen. */
async function readBytes(request: Request, { bytesMax, held }: BodyLimits): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  if (announced > bytesMax) throw bodyTooLarge(bytesMax)
  if (announced <= READ_AT_ONCE_BYTES_MAX) {
    // No more than was announced can come, so this needs no look at every chunk, which takes longer than most requests.
    held.hold(announced)
    return Buffer.from(await request.arrayBuffer())
  }
  return readAll(request.body ?? [], { bytesMax, held })
}

/** Counts the bytes as they come. */
async function readAll(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytesMax, held }: BodyLimits,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    size += chunk.byteLength
    if (size > bytesMax) throw bodyTooLarge(bytesMax)
    held.hold(chunk.byteLength)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

const COMPRESSIONS = ['gzip', 'deflate'] as const

/**
 * Reads a whole body as it was before the client compressed it; the limits count what comes out, which a small body can
 * make as large as it likes. @throws 415 for another encoding, 400 for bytes that are not what they are said to be.
 */
export async function readDecompressed(request: Request, limits: BodyLimits): Promise<Buffer> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding === 'identity') return readBytes(request, limits)
  const compression = COMPRESSIONS.find((known) => known === encoding)
  if (compression === undefined)
    throw unsupportedMediaType(
      `Content-Encoding ${encoding.slice(0, 100)} is none of gzip, deflate, identity`,
    )
  const decompressed = (request.body ?? new Blob([]).stream()).pipeThrough(
    new DecompressionStream(compression),
  )
  try {
    return await readAll(decompressed, limits)
  } catch (error) {
    // What the limits throw; anything else is the decompressor's own word for bytes it cannot read.
    if (error instanceof ClientError) throw error
    throw invalidRequest(`The body is not ${encoding}`)
  }
}

/** Wire: some clients send JSON with another Content-Type or none, so the type is not looked at. */
export async function readJson(
  request: Request,
  { keep, ...limits }: BodyLimits & { keep: KeepShape | undefined },
): Promise<unknown> {
  const bytes = await readBytes(request, limits)
  if (bytes.byteLength === 0) {
    throw new ValidationFailure([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
  }
  try {
    return parseKeeping(bytes.toString('utf8'), keep)
  } catch (error) {
    if (error instanceof SyntaxError) throw jsonInvalid(error)
    throw error
  }
}

/** Reads form data; a file becomes an {@link UploadedFile}, any other field a string. */
export async function readMultipart(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, limits)
  const contentType = request.headers.get('content-type') ?? ''
  const fields: Record<string, unknown> = {}
  for (const [name, value] of await parseForm(bytes, contentType)) {
    fields[name] = typeof value === 'string' ? value : await uploaded(value)
  }
  return fields
}

async function parseForm(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw new ValidationFailure([
      {
        type: 'multipart_invalid',
        loc: ['body'],
        msg: 'Body should be multipart form data',
        input: contentType,
      },
    ])
  }
}

async function uploaded(file: File): Promise<UploadedFile> {
  return { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) }
}

export function bodyTooLarge(bytesMax: number): Error {
  return tooLarge(`Request too large: the limit is ${bytesMax} bytes`)
}
