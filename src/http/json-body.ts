import { setImmediate } from 'node:timers/promises'
import { TURN_MS } from '../in-turns.ts'
import { stringifyInPieces } from '../lossless-json.ts'

/** Characters that become bytes at once; most replies have fewer and stay one text. */
const CHUNK_CHARS = 64 * 1024

/** A value as one JSON document. Other requests run whenever work on a large one took {@link TURN_MS}. */
export async function jsonBody(value: unknown): Promise<string | Uint8Array> {
  const chunks: Buffer[] = []
  let text = ''
  let turnedAt = performance.now()
  for (const piece of stringifyInPieces(value)) {
    text += piece
    if (text.length < CHUNK_CHARS) continue
    chunks.push(Buffer.from(text))
    text = ''
    if (performance.now() - turnedAt < TURN_MS) continue
    await setImmediate()
    turnedAt = performance.now()
  }
  return chunks.length === 0 ? text : Buffer.concat([...chunks, Buffer.from(text)])
}
