import { JsonText, stringify } from '../../lossless-json.ts'

/** The file in which clients keep the source of an op, or of a model. */
export const OP_SOURCE_FILE = 'obj.py'

/** What clients publish for an op whose source is the file with this digest. */
export function opValue(sourceDigest: string): JsonText {
  return new JsonText(
    stringify({
      _type: 'CustomWeaveType',
      weave_type: { type: 'Op' },
      files: { [OP_SOURCE_FILE]: sourceDigest },
    }),
  )
}
