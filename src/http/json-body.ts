import { stringifyInPieces } from '../json/lossless-json.ts'
import { yielding } from '../yielding.ts'

/** Characters that become bytes at once; most replies have fewer and stay one text. */
const CHUNK_CHARS = 64 * 1024

/**
 * A value as one JSON document: a text where it is small, else bytes. Other requests run while a large one is written.
 */
export async function jsonBody(value: unknown): Promise<string | Uint8Array> {
  const chunks: Buffer[] = []
  let rest = ''
  for await (const chunk of yielding(inChunks(stringifyInPieces(value)))) {
    if (chunk.length < CHUNK_CHARS) rest = chunk
    else chunks.push(Buffer.from(chunk))
  }
  return chunks.length === 0 ? rest : Buffer.concat([...chunks, Buffer.from(rest)])
}

/** Joins texts to chunks of at least {@link CHUNK_CHARS}; only the last may be shorter. */
function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK_CHARS) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}
