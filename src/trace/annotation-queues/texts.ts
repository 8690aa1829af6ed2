import { z } from 'zod'

const Texts = z.array(z.string())

/** The list that a column has as JSON. */
export function textsOf(json: string): string[] {
  return Texts.parse(JSON.parse(json))
}
