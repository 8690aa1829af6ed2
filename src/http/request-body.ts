import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import { ClientError, clientGone, invalidRequest, unsupportedMediaType } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { type KeepShape, parseKeeping } from '../json/lossless-json.ts'
import type { BodyShape } from '../wire/body-shape.ts'
import { jsonInvalid, ValidationFailure } from '../wire/validation-error.ts'
import { type BodyLimits, bodyTooLarge, readArriving } from './arriving-body.ts'
import { checkEnvelope } from './envelope-bounds.ts'
import { type FormField, parseFormData } from './form-data.ts'
import { parseSliced } from './sliced-json.ts'

/** Wire: the trace service takes 32 MiB a request and its clients cut their batches at 31 MiB. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024

/** A request with its body, not yet read. */
export interface Arriving {
  headers: Headers
  body: Readable
}

/** Reads a whole body. @throws 413 as soon as more than `bytesMax` have been announced or seen. */
async function readBytes({ headers, body }: Arriving, limits: BodyLimits): Promise<Buffer> {
  if (Number(headers.get('content-length')) > limits.bytesMax) throw bodyTooLarge(limits.bytesMax)
  return readArriving(body, limits)
}

/** Wire: `deflate` is the zlib format. What follows the compressed bytes is an error, and not dropped in silence. */
const DECOMPRESSORS = new Map([
  ['gzip', () => createGunzip({ rejectGarbageAfterEnd: true })],
  ['deflate', () => createInflate({ rejectGarbageAfterEnd: true })],
])

/**
 * Reads a whole body as it was before the client compressed it; the limits count decompressed bytes, since a small body
 * can expand to any size. @throws 415 for another encoding, 400 for bytes that are not what they are said to be.
 */
export async function readDecompressed(request: Arriving, limits: BodyLimits): Promise<Buffer> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding === 'identity') return readBytes(request, limits)
  const decompressor = DECOMPRESSORS.get(encoding)?.()
  if (decompressor === undefined)
    throw unsupportedMediaType(
      `Content-Encoding ${encoding.slice(0, 100)} is none of gzip, deflate, identity`,
    )
  const { body } = request
  // A pipe ends its target when the source has ended, and leaves it open when the source fails.
  const closed = () => {
    if (!body.readableEnded) decompressor.destroy(clientGone())
  }
  body.once('error', closed).once('close', closed).pipe(decompressor)
  try {
    return await readArriving(decompressor, limits)
  } catch (error) {
    // Errors of the limits; anything else is the decompressor's error for bytes it cannot read.
    if (error instanceof ClientError) throw error
    throw invalidRequest(`The body is not ${encoding}`)
  } finally {
    body.off('error', closed).off('close', closed).unpipe(decompressor)
    decompressor.destroy()
  }
}

/**
 * A body up to this is parsed at once, in a millisecond at most, with all its errors reported; of a larger one, only
 * the first.
 */
const PARSED_AT_ONCE_BYTES_MAX = 32 * 1024

/** The part of its body that a route reads. */
export interface ReadBody {
  shape: BodyShape
  keep: KeepShape | undefined
}

/** Wire: some clients send JSON with another Content-Type or none, so the type is ignored. It may be compressed. */
export async function readJson(
  request: Arriving,
  { shape, keep, ...limits }: BodyLimits & ReadBody,
): Promise<{ value: unknown; size: 'small' | 'large' }> {
  const bytes = await readDecompressed(request, limits)
  if (bytes.byteLength === 0) {
    throw new ValidationFailure([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
  }
  try {
    if (bytes.byteLength > PARSED_AT_ONCE_BYTES_MAX)
      return { value: await parseSliced(bytes, shape), size: 'large' }
    const value = parseKeeping(bytes.toString('utf8'), keep, { levelsMax: JSON_DEPTH_MAX })
    checkEnvelope(value)
    return { value, size: 'small' }
  } catch (error) {
    if (error instanceof SyntaxError) throw jsonInvalid(error)
    throw error
  }
}

/** Reads form data; a file becomes an `UploadedFile`, any other field a string. */
export async function readMultipart(request: Arriving, limits: BodyLimits): Promise<Record<string, unknown>> {
  const bytes = await readDecompressed(request, limits)
  const contentType = request.headers.get('content-type') ?? ''
  return Object.fromEntries(await parseForm(bytes, contentType))
}

async function parseForm(bytes: Buffer, contentType: string): Promise<FormField[]> {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined || !/^multipart\/form-data\s*;/i.test(contentType)) throw noForm(contentType)
  try {
    return await parseFormData(bytes, boundary)
  } catch (error) {
    throw error instanceof ClientError ? error : noForm(contentType)
  }
}

function noForm(contentType: string): ValidationFailure {
  const input = contentType.slice(0, 200)
  const msg = 'Body should be multipart form data'
  return new ValidationFailure([{ type: 'multipart_invalid', loc: ['body'], msg, input }])
}
