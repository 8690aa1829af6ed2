import { tooLarge } from '../errors.ts'
import type { UploadedFile } from './route.ts'

/** Fields of a form; the endpoint with most of them has four. */
const FORM_PARTS_MAX = 100

/** Bytes of the headers of one field, which name it, its file and its type. */
const PART_HEADER_BYTES_MAX = 8 * 1024

const CRLF = '\r\n'

/** A field of a form: a text, or a file. */
export type FormField = [name: string, value: string | UploadedFile]

/**
 * The fields of form data (RFC 7578), in their order; undefined for bytes that are none. Files are parts of `bytes`: to copy them, as
 * the form data of `Response` does, takes most of a second for the largest, in which nothing else is served.
 * @throws 413 for more fields, or longer headers of one, than a form has
 */
export function parseFormData(bytes: Buffer, boundary: string): FormField[] | undefined {
  const fields: FormField[] = []
  const delimiter = Buffer.from(`${CRLF}--${boundary}`)
  let at = endOfFirst(bytes, delimiter)
  for (;;) {
    if (at === undefined) return undefined
    if (textAt(bytes, at) === '--') return fields
    if (textAt(bytes, at) !== CRLF) return undefined
    if (fields.length === FORM_PARTS_MAX) throw tooLarge(`A form has at most ${FORM_PARTS_MAX} fields`)
    const head = headAt(bytes, at)
    const end = head === undefined ? -1 : bytes.indexOf(delimiter, head.end)
    const field = head && end >= 0 ? fieldOf(head.text, bytes.subarray(head.end, end)) : undefined
    if (field === undefined) return undefined
    fields.push(field)
    at = end + delimiter.length
  }
}

/** Where the first delimiter ends, before which only some line ends may stand. */
function endOfFirst(bytes: Buffer, delimiter: Buffer): number | undefined {
  let at = 0
  while (at < PART_HEADER_BYTES_MAX && textAt(bytes, at) === CRLF) at += CRLF.length
  const first = delimiter.subarray(CRLF.length)
  return bytes.subarray(at, at + first.length).equals(first) ? at + first.length : undefined
}

function textAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 2)
}

/** The headers of a field, which begin with the line end at a place and end with an empty line; undefined without one. */
function headAt(bytes: Buffer, at: number): { text: string; end: number } | undefined {
  const most = bytes.subarray(at, at + PART_HEADER_BYTES_MAX)
  const length = most.indexOf(CRLF + CRLF)
  if (length < 0 && most.length === PART_HEADER_BYTES_MAX)
    throw tooLarge(`The headers of a field have at most ${PART_HEADER_BYTES_MAX} bytes`)
  return length < 0
    ? undefined
    : { text: most.toString('utf8', 0, length), end: at + length + 2 * CRLF.length }
}

function fieldOf(head: string, content: Buffer): FormField | undefined {
  const disposition = headerIn(head, 'content-disposition') ?? ''
  const name = parameterIn(disposition, 'name')
  if (name === undefined || !/^form-data\s*;/i.test(disposition)) return undefined
  const isBase64 = headerIn(head, 'content-transfer-encoding')?.toLowerCase() === 'base64'
  const bytes = isBase64 ? Buffer.from(content.toString('latin1'), 'base64') : content
  const file = extendedIn(disposition) ?? parameterIn(disposition, 'filename')
  if (file === undefined) return [name, bytes.toString('utf8')]
  return [name, { name: file, type: headerIn(head, 'content-type') ?? 'text/plain', bytes }]
}

/** The value of a header, by its name in lower case. */
function headerIn(head: string, name: string): string | undefined {
  for (const line of head.split(CRLF)) {
    const colon = line.indexOf(':')
    if (line.slice(0, colon).trim().toLowerCase() === name) return line.slice(colon + 1).trim()
  }
  return undefined
}

/** A parameter of a header. Wire: of quotes and line ends in names, browsers write `%22`, and some clients `\"`. */
function parameterIn(header: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:\\\\"|[^"])*)"|([^\\s;"]*))`, 'i').exec(header)
  const [, quoted, plain] = found ?? []
  return quoted?.replaceAll('\\"', '"').replaceAll(/%(22|0D|0A)/gi, decodeURIComponent) ?? plain
}

/** Wire: urllib3 names files that are not of ASCII as `filename*=utf-8''…`. */
function extendedIn(header: string): string | undefined {
  const text = /;\s*filename\*=utf-8''([^\s;]*)/i.exec(header)?.[1]
  try {
    return text && decodeURIComponent(text)
  } catch {
    return undefined
  }
}
