import { parseKeeping } from '../../../json/lossless-json.ts'
import { utf8Text } from '../../../utf8-text.ts'
import { keepShapeOf } from '../../../wire/body-shape.ts'
import { Call } from '../messages/call-wire.ts'

const SHAPE = keepShapeOf(Call)

/** The calls in JSON lines as this folder writes them, each parsed as it is taken. */
export function* parseLines(lines: Uint8Array): Generator<Call> {
  const texts = utf8Text(lines).split('\n')
  // Lines are written as the schema says.
  for (const text of texts) if (text !== '') yield parseKeeping(text, SHAPE) as Call
}
