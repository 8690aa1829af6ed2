import type { Json } from '../../api/wire.ts'
import { childrenOf } from './json-lines.ts'

/** More hits than a person steps through. */
const HITS_MAX = 10_000

/** Paths of all keys and scalars that contain a text, in the order in which they are shown. */
export function findInJson(root: Json, text: string): (readonly (string | number)[])[] {
  const wanted = text.toLowerCase()
  if (wanted === '') return []
  const hits: (readonly (string | number)[])[] = []
  const stack: { value: Json; path: readonly (string | number)[] }[] = [{ value: root, path: [] }]
  for (let next = stack.pop(); next !== undefined && hits.length < HITS_MAX; next = stack.pop()) {
    const { value, path } = next
    const name = path.at(-1)
    const isNamed = typeof name === 'string' && name.toLowerCase().includes(wanted)
    const isScalar = typeof value !== 'object' || value === null
    if (isNamed || (isScalar && String(value).toLowerCase().includes(wanted))) hits.push(path)
    if (isScalar) continue
    for (const [key, child] of childrenOf(value).toReversed())
      stack.push({ value: child, path: [...path, key] })
  }
  return hits
}
