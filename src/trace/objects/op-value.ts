import type { UploadedFile } from '../../http/route.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'

/** The file in which clients keep the source of an op, or of a model. */
export const OP_SOURCE_FILE = 'obj.py'

/** A file of source code, as clients make it. */
export function sourceFile(code: string): UploadedFile {
  return { name: OP_SOURCE_FILE, type: 'text/x-python', bytes: Buffer.from(code) }
}

/** Source of an op without known code: it loads as a function whose error says why. */
export function placeholderSource(signature: string, why = 'created without source code'): string {
  return `def ${signature}:\n    ...  # ${why}\n`
}

/** The value that clients publish for an op whose source is the file with this digest. */
export function opValue(sourceDigest: string): JsonText {
  return new JsonText(
    stringify({
      _type: 'CustomWeaveType',
      weave_type: { type: 'Op' },
      files: { [OP_SOURCE_FILE]: sourceDigest },
    }),
  )
}
