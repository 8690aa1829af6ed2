import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { invalidRequest, messageOf, tooLarge } from '../../errors.ts'

/**
 * Fields of one request. Each may become objects of some hundred bytes, though it took two bytes to send; eight
 * thousand spans with fifty attributes each have fewer.
 */
const FIELDS_MAX = 2_000_000

const { root } = protobuf.parse(readFileSync(join(import.meta.dirname, 'otlp.proto'), 'utf8'))
const RequestType = root.lookupType('ExportTraceServiceRequest')
const ResponseType = root.lookupType('ExportTraceServiceResponse')

/**
 * Decodes an `ExportTraceServiceRequest` into the form it has in JSON, but with bytes as bytes and long integers as
 * text.
 * @throws 400 for invalid bytes, 413 for too many fields.
 */
export function decodeRequest(bytes: Uint8Array): object {
  const reader = new CountingReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  try {
    return RequestType.toObject(RequestType.decode(reader), { longs: String })
  } catch (error) {
    if (reader.fields > FIELDS_MAX)
      throw tooLarge('The request has too many fields: send fewer spans at once')
    throw invalidRequest(`The body is not an ExportTraceServiceRequest: ${messageOf(error)}`)
  }
}

/** Encodes an `ExportTraceServiceResponse` given in its JSON form. */
export function encodeResponse(response: object): Uint8Array {
  return ResponseType.encode(ResponseType.fromObject(response)).finish()
}

/** Stops a decoding that makes too many objects. */
class CountingReader extends protobuf.BufferReader {
  fields = 0

  override tag(): number {
    if (++this.fields > FIELDS_MAX) throw new RangeError('too many fields')
    return super.tag()
  }
}
