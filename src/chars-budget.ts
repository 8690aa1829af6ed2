import { tooLarge } from './errors.ts'

/**
 * Adds up characters; what it returns throws 413 with the message once they are more than `max`.
 * @param isOneAllowed whether a single addition may be larger, of a value that is in memory already
 */
export function createCharsBudget(
  max: number,
  message: string,
  { isOneAllowed = false }: { isOneAllowed?: boolean } = {},
): (chars: number) => void {
  let total = 0
  return (chars) => {
    const isOne = total === 0
    total += chars
    if (total > max && !(isOne && isOneAllowed)) throw tooLarge(message)
  }
}
