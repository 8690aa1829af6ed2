import { z } from 'zod'
import type { TypedScores } from './scorer.ts'

/** Wire: a tag of up to 36 characters, or a rating from 0 to 1. */
const Score = z.looseObject({
  value: z.union([z.string().min(1).max(36), z.number().min(0).max(1)]),
  reason: z.string().nullish(),
  confidence: z.number().min(0).max(1).nullish(),
})
const Result = z.union([
  Score.transform((score) => [score]),
  z.array(Score),
  z.looseObject({ scores: z.array(Score) }).transform(({ scores }) => scores),
])

/** The tags and ratings of a structured result; a rating has the scorer's name. Empty for a result of another form. */
export function typedScores(result: unknown, scorer: string): TypedScores {
  const scores = Result.safeParse(result).data ?? []
  const tags = scores.flatMap(({ value, ...about }) =>
    typeof value === 'string' ? [{ name: value, ...about }] : [],
  )
  const ratings = scores.flatMap(({ value, ...about }) =>
    typeof value === 'number' ? [{ name: scorer, value, ...about }] : [],
  )
  return {
    ...(tags.length > 0 && {
      scorer_tags: tags.map(({ name }) => name),
      scorer_tag_reasons: byName(tags, ({ reason }) => reason),
      scorer_tag_confidences: byName(tags, ({ confidence }) => confidence),
    }),
    ...(ratings.length > 0 && {
      scorer_ratings: byName(ratings, ({ value }) => value),
      scorer_rating_reasons: byName(ratings, ({ reason }) => reason),
      scorer_rating_confidences: byName(ratings, ({ confidence }) => confidence),
    }),
  }
}

function byName<Item extends { name: string }, Value>(
  items: readonly Item[],
  read: (item: Item) => Value | null | undefined,
): Record<string, Value> {
  return Object.fromEntries(
    items.flatMap((item) => {
      const value = read(item)
      return value == null ? [] : [[item.name, value]]
    }),
  )
}
