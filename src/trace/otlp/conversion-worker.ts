import { serialize } from 'node:v8'
import { slicesOf } from '../../slices.ts'
import { serveLimitedWork } from '../../threads/serve-limited-work.ts'
import { type Conversion, convertSpans, type ExportedSpans, SPANS_PER_LIST } from './conversion.ts'

/** A conversion whose spans are serialized in lists, so that the thread that serves reads one list at a time. */
export type SerializedConversion = Omit<Conversion, 'spans'> & { lists: Uint8Array[] }

/** The program of the threads that convert large exports. */
serveLimitedWork(converted)

function converted(exported: ExportedSpans): SerializedConversion {
  const { spans, ...others } = convertSpans(exported)
  return { ...others, lists: [...slicesOf(spans, SPANS_PER_LIST)].map((list) => serialize(list)) }
}
