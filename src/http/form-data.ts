import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { tooLarge } from '../errors.ts'
import type { UploadedFile } from './route.ts'

/** Fields of a form; the endpoint with most of them has four. */
const FORM_PARTS_MAX = 100

/** Bytes of the headers of one field, which name it, its file and its type. */
const PART_HEADER_BYTES_MAX = 8 * 1024

/** Some milliseconds of work; the largest form is 64 times as long. */
const READ_AT_ONCE_BYTES = 1024 * 1024

/** A field of a form: a text, or a file. */
export type FormField = [name: string, value: string | UploadedFile]

/**
 * The fields of form data (RFC 7578), in their order. Other requests are served between its pieces, which
 * `Response.formData` does not allow: it takes most of a second for the largest file.
 * @param boundary what stands between the fields
 * @throws 413 for more fields, or longer headers of one, than a form has; Error for bytes that are no form data
 */
export async function parseFormData(bytes: Buffer, boundary: string): Promise<FormField[]> {
  checkParts(bytes, Buffer.from(`--${boundary}`))
  const headers: BusboyHeaders = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  const parser = new Busboy({
    headers,
    // Without it, a name is cut at its last slash.
    preservePath: true,
    isPartAFile: (_name, _type, file) => file !== undefined,
    // The form is limited as a whole.
    limits: { fieldSize: Number.POSITIVE_INFINITY, headerSize: PART_HEADER_BYTES_MAX },
  })
  const fields: FormField[] = []
  parser.on('field', (name, value) => fields.push([name, value]))
  parser.on('file', (name, content, file, encoding, type) => {
    const pieces: Buffer[] = []
    content.on('data', (piece: Buffer) => pieces.push(piece))
    content.on('end', () => {
      const whole = Buffer.concat(pieces)
      const isBase64 = encoding.toLowerCase() === 'base64'
      const decoded = isBase64 ? Buffer.from(whole.toString('latin1'), 'base64') : whole
      fields.push([name, { name: unescaped(file), type, bytes: decoded }])
    })
  })
  const finished = once(parser, 'finish')
  // An error of an early piece has no other listener until all are written.
  finished.catch(() => {})
  for (let at = 0; at < bytes.length && !parser.errored; at += READ_AT_ONCE_BYTES) {
    if (at > 0) await setImmediate()
    parser.write(bytes.subarray(at, at + READ_AT_ONCE_BYTES))
  }
  parser.end()
  await finished
  return fields
}

/** Checks a form before it is parsed, which takes seconds for hundreds of thousands of fields. @throws 413 */
function checkParts(bytes: Buffer, delimiter: Buffer): void {
  let parts = 0
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    // The last delimiter ends the form.
    if (++parts > FORM_PARTS_MAX + 1) throw tooLarge(`A form has at most ${FORM_PARTS_MAX} fields`)
    const head = bytes.subarray(at, at + PART_HEADER_BYTES_MAX)
    if (head.length === PART_HEADER_BYTES_MAX && !head.includes('\r\n\r\n'))
      throw tooLarge(`The headers of a field have at most ${PART_HEADER_BYTES_MAX} bytes`)
  }
}

/** Wire: in names of files, browsers write quotes and line ends so. */
function unescaped(name: string): string {
  return name.replaceAll(/%(22|0D|0A)/gi, decodeURIComponent)
}
