import { checkTexts } from './params.ts'
import type { Operand, Query } from './wire.ts'

/**
 * The ids that a query names: by `$eq`, an `$or` of them, or `$in`. Wire: rows can be purged by no other query.
 * @returns undefined for any other query, and for one that names no id
 * @throws 400 for too many ids, 413 for too long ones
 */
export function namedIds({ $expr }: Query): string[] | undefined {
  const named = '$in' in $expr ? inList($expr.$in) : ('$or' in $expr ? $expr.$or : [$expr]).map(idOf)
  const ids = named.filter((id) => id !== undefined)
  if (ids.length === 0 || ids.length < named.length) return undefined
  checkTexts(ids)
  return ids
}

function inList([field, options]: readonly [Operand, readonly Operand[]]): (string | undefined)[] {
  return options.map((option) => idOf({ $eq: [field, option] }))
}

function idOf(operand: Operand): string | undefined {
  if (!('$eq' in operand)) return undefined
  const [field, literal] = operand.$eq
  if (!('$getField' in field) || field.$getField !== 'id' || !('$literal' in literal)) return undefined
  return typeof literal.$literal === 'string' ? literal.$literal : undefined
}
