import { keepShapeOf } from '../../body-shape.ts'
import { parseKeeping } from '../../lossless-json.ts'
import { Call } from './wire.ts'

const SHAPE = keepShapeOf(Call)

/** The calls in texts as `callTexts` writes them, one a line. */
export function callsIn(texts: Uint8Array): Call[] {
  const lines = Buffer.from(texts.buffer, texts.byteOffset, texts.byteLength).toString('utf8').split('\n')
  // `callTexts` writes what the schema says.
  return lines.filter((line) => line !== '').map((line) => parseKeeping(line, SHAPE) as Call)
}
