import { isRecord } from '../../json/is-record.ts'

/**
 * A group with empty lists in place of its sampled tokens, which are as a schema wants them. A job has a hundred
 * thousand and more, and a schema takes a hundred times as long for each, while other requests wait. A list with a
 * wrong token stays, so that the schema names it.
 */
export function withoutTokens(group: unknown): unknown {
  return withItems(group, 'trajectories', (trajectory) =>
    withItems(ofHistory(trajectory), 'additional_histories', ofHistory),
  )
}

function ofHistory(history: unknown): unknown {
  return withItems(history, 'messages_and_choices', ofChoice)
}

function ofChoice(choice: unknown): unknown {
  const logprobs = isRecord(choice) ? choice['logprobs'] : undefined
  if (!isRecord(choice) || !isRecord(logprobs)) return choice
  const { content } = logprobs
  if (!Array.isArray(content) || !content.every(isToken)) return choice
  return { ...choice, logprobs: { ...logprobs, content: [] } }
}

function isToken(item: unknown): boolean {
  return (
    isRecord(item) &&
    typeof item['token'] === 'string' &&
    (item['logprob'] === null || Number.isFinite(item['logprob']))
  )
}

/** An object with the items of one of its lists replaced; anything else as it is. */
function withItems(value: unknown, name: string, replace: (item: unknown) => unknown): unknown {
  const items = isRecord(value) ? value[name] : undefined
  return isRecord(value) && Array.isArray(items) ? { ...value, [name]: items.map(replace) } : value
}
