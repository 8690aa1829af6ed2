import { invalidRequest, unsupportedMediaType } from '../../errors.ts'
import type { RawReply } from '../../http/route.ts'
import { checked } from './checked.ts'
import { decodeRequest, encodeResponse } from './protobuf.ts'
import * as wire from './wire.ts'

/** How one media type writes OTLP. */
interface Encoding {
  decode: (bytes: Uint8Array) => unknown
  encode: (response: object) => Uint8Array | string
}

const JSON_ENCODING: Encoding = { decode: parseJson, encode: (response) => JSON.stringify(response) }
const PROTOBUF: Encoding = { decode: decodeRequest, encode: encodeResponse }

const ENCODINGS = new Map([
  ['application/x-protobuf', PROTOBUF],
  ['application/protobuf', PROTOBUF],
  ['application/json', JSON_ENCODING],
])

/** Reads requests and writes replies in one encoding. */
export interface RequestEncoding {
  /** @throws 400 for a body that is no export request. */
  decode(bytes: Uint8Array): wire.ExportTraceServiceRequest
  encode(response: wire.ExportTraceServiceResponse): RawReply
}

/** Wire: a request is answered in the encoding it came in. @throws 415 for another media type. */
export function encodingOf(contentType: string | undefined): RequestEncoding {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const encoding = ENCODINGS.get(mediaType)
  if (encoding === undefined)
    throw unsupportedMediaType(
      `Content-Type ${mediaType.slice(0, 100) || '(none)'} is neither application/x-protobuf nor application/json`,
    )
  return {
    decode: (bytes) =>
      checked(wire.ExportTraceServiceRequest, encoding.decode(bytes), 'an ExportTraceServiceRequest'),
    encode: (response) => ({
      headers: { 'content-type': mediaType },
      body: encoding.encode(response),
    }),
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    throw invalidRequest('The body is not JSON')
  }
}
