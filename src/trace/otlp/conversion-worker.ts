import { serialize } from 'node:v8'
import { ClientError, messageOf } from '../../errors.ts'
import { slicesOf } from '../../slices.ts'
import { serveThread } from '../../threads/serve-thread.ts'
import { type Conversion, convertSpans, type ExportedSpans, SPANS_PER_LIST } from './conversion.ts'

/** A conversion whose spans are serialized in lists, so that the thread that serves reads one list at a time; or its error. */
export type ConversionAnswer =
  | (Omit<Conversion, 'spans'> & { lists: Uint8Array[] })
  | { refused: { status: number; message: string } }
  | { failed: string }

/** The program of the threads that convert large exports. */
serveThread(answerTo)

function answerTo(exported: ExportedSpans): ConversionAnswer {
  try {
    const { spans, ...others } = convertSpans(exported)
    return { ...others, lists: [...slicesOf(spans, SPANS_PER_LIST)].map((list) => serialize(list)) }
  } catch (error) {
    if (!(error instanceof ClientError)) return { failed: messageOf(error) }
    return { refused: { status: error.status, message: error.message } }
  }
}
