import { deserialize } from 'node:v8'
import { slicesOf } from '../../slices.ts'
import { createLimitedWork } from '../../threads/limited-work.ts'
import {
  type Conversion,
  type ConvertedSpan,
  convertSpans,
  type ExportedSpans,
  SPANS_PER_LIST,
} from './conversion.ts'
import type { SerializedConversion } from './conversion-worker.ts'

/** Bytes of an export that is converted on the thread that serves, in some 2 ms; 20 ms for many tiny attributes. */
const BYTES_HERE_MAX = 64 * 1024

/** A conversion whose spans come list by list. */
export type ConvertedExport = Omit<Conversion, 'spans'> & { lists: Iterable<readonly ConvertedSpan[]> }

const convert = createLimitedWork<ExportedSpans, SerializedConversion>({
  program: new URL('./conversion-worker.ts', import.meta.url),
  does: 'convert the spans',
  // The largest number of fields takes some 3 s.
  msMax: 20_000,
  // The largest request, decoded, and its rows.
  memoryMbMax: 1024,
})

/**
 * Converts spans to calls, in a thread where that may take long.
 * @throws 400 for bytes that are no export, 413 for one that has too many spans or fields, or takes too long or too
 * much memory, 503 without a thread.
 */
export async function runConversion(exported: ExportedSpans): Promise<ConvertedExport> {
  if (exported.bytes.byteLength <= BYTES_HERE_MAX) {
    const { spans, ...others } = convertSpans(exported)
    return { ...others, lists: slicesOf(spans, SPANS_PER_LIST) }
  }
  const { lists, ...others } = await convert(exported.user, exported)
  return { ...others, lists: lists.values().map((list) => deserialize(list)) }
}
