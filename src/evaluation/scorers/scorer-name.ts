import { invalidRequest } from '../../errors.ts'
import { OBJECT_ID_CHARS_MAX } from '../../trace/objects/publisher.ts'
import { startOfName } from '../../trace/objects/safe-name.ts'
import { parseRef } from '../../trace/ref-uri.ts'
import type { Published } from '../published.ts'
import type { Scorer } from './scorer.ts'

/**
 * The name under which the results of a scorer stand: its own, that of its class, or that of its op. Wire: written as
 * the Python client writes names of objects.
 */
export function scorerName({ val, name }: Published): string {
  const own = String(val['name'] || val['_class_name'] || name)
  return writtenAsName(own) || name
}

/**
 * Scorers of one evaluation, or classifiers of one monitor, each once. Those whose names are the same, as of two
 * without a name of one class, stand under the names of their objects, or the results of one would replace those of the
 * other.
 * @throws 400 that names two scorers whose results would still stand under the same name.
 */
export function namedApart<Named extends Pick<Scorer, 'name' | 'ref'>>(scorers: readonly Named[]): Named[] {
  const different = [...new Map(scorers.map((scorer) => [scorer.ref, scorer])).values()]
  const namesakes = Map.groupBy(different, ({ name }) => name)
  const apart = different.map((scorer) =>
    namesakes.get(scorer.name)?.length === 1 ? scorer : { ...scorer, name: parseRef(scorer.ref).name },
  )
  for (const [name, [first, second]] of Map.groupBy(apart, ({ name }) => name))
    if (first !== undefined && second !== undefined)
      throw invalidRequest(
        `scorers: the results of ${first.ref} and ${second.ref} would both stand under ${name}: give one another name`,
      )
  return apart
}

function writtenAsName(text: string): string {
  const written = text
    .replaceAll(/[^\p{L}\p{N}_.]+/gu, '-')
    .replaceAll(/[._-]{2,}/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
  return startOfName(written, OBJECT_ID_CHARS_MAX)
}
