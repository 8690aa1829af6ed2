import { deserialize } from 'node:v8'
import { dependencyFailed, invalidRequest, tooLarge } from '../../errors.ts'
import { inOrderByKey } from '../../in-order.ts'
import { slicesOf } from '../../slices.ts'
import { createThreads, ThreadLost } from '../../threads/threads.ts'
import {
  type Conversion,
  type ConvertedSpan,
  convertSpans,
  type ExportedSpans,
  SPANS_PER_LIST,
} from './conversion.ts'
import type { ConversionAnswer } from './conversion-worker.ts'

/** Bytes of an export that is converted on the thread that serves, in some 2 ms; 20 ms for many tiny attributes. */
const BYTES_HERE_MAX = 64 * 1024

/** A request that takes longer is refused. The largest number of fields takes some 3 s. */
const THREAD_MS_MAX = 20_000

/** The other processors serve the rest of the machine. */
const THREADS_MAX = 2

/** Of one thread: the largest request, decoded, and its rows. */
const MEMORY_MB_MAX = 1024

/** A conversion whose spans come list by list. */
export type ConvertedExport = Omit<Conversion, 'spans'> & { lists: Iterable<readonly ConvertedSpan[]> }

const ask = createThreads<ExportedSpans, ConversionAnswer>({
  program: new URL('./conversion-worker.ts', import.meta.url),
  threadsMax: THREADS_MAX,
  memoryMbMax: MEMORY_MB_MAX,
})

/** A user has one thread at a time, which leaves the other one to other users. */
const byUser = inOrderByKey()

/**
 * Converts spans to calls, in a thread where that may take long.
 * @throws 400 for bytes that are no export, 413 for one that has too many spans or fields, or takes too long or too much memory, 503
 * without a thread.
 */
export async function runConversion(exported: ExportedSpans): Promise<ConvertedExport> {
  if (exported.bytes.byteLength <= BYTES_HERE_MAX) {
    const { spans, ...others } = convertSpans(exported)
    return { ...others, lists: slicesOf(spans, SPANS_PER_LIST) }
  }
  const asked = byUser(exported.user, () => ask(exported, { timeoutMs: THREAD_MS_MAX }))
  const answer = await asked.catch((error: unknown) => {
    throw error instanceof ThreadLost ? refusalOf(error) : error
  })
  if ('refused' in answer) {
    const { status, message } = answer.refused
    throw status === 413 ? tooLarge(message) : invalidRequest(message)
  }
  if ('failed' in answer) throw dependencyFailed('The spans could not be converted', new Error(answer.failed))
  return { ...answer, lists: answer.lists.values().map((list) => deserialize(list)) }
}

function refusalOf(lost: ThreadLost): Error {
  if (lost.why === 'not-started') return dependencyFailed('No thread to convert spans could be started', lost)
  const limit = lost.why === 'too-late' ? `${THREAD_MS_MAX} ms` : `${MEMORY_MB_MAX} MB`
  return tooLarge(`To convert the spans takes more than ${limit}: send fewer at once`)
}
