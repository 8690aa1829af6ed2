import { OBJECT_ID_CHARS_MAX } from '../../trace/objects/publisher.ts'
import { startOfName } from '../../trace/objects/safe-name.ts'
import type { Published } from '../published.ts'

/**
 * The name under which the results of a scorer stand: its own, that of its class, or that of its op. Wire: written as the
 * Python client writes names of objects.
 */
export function scorerName({ val, name }: Published): string {
  const own = String(val['name'] || val['_class_name'] || name)
  return writtenAsName(own) || name
}

function writtenAsName(text: string): string {
  const written = text
    .replaceAll(/[^\p{L}\p{N}_.]+/gu, '-')
    .replaceAll(/[._-]{2,}/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
  return startOfName(written, OBJECT_ID_CHARS_MAX)
}
