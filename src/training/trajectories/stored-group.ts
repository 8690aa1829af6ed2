import { z } from 'zod'
import { type LosslessJson, parseLossless, stringify } from '../../lossless-json.ts'
import { historiesOf } from './exchanges.ts'

type Json = { [key: string]: LosslessJson }

/**
 * A group in the one form that calls and the trainer read: each trajectory with messages and choices and a reward.
 * Wire: newer clients leave out defaults, and may record exchanges in place of messages and choices.
 * @param text the group, whose `value` has been checked
 */
export function storedGroup(text: string, value: unknown): string {
  if (Stored.safeParse(value).success) return text
  const group = parseLossless(text) as Json
  const trajectories = ((group['trajectories'] ?? []) as Json[]).map(storedTrajectory)
  return stringify({ ...group, trajectories })
}

const Stored = z.object({
  trajectories: z.array(
    z.object({
      messages_and_choices: z.array(z.unknown()),
      reward: z.number(),
      exchanges: z.null().optional(),
    }),
  ),
})

function storedTrajectory({ exchanges, ...trajectory }: Json): object {
  const rest = { ...trajectory, reward: trajectory['reward'] ?? 0 }
  if (exchanges == null) return { ...rest, messages_and_choices: trajectory['messages_and_choices'] ?? [] }
  const [main, ...additional_histories] = historiesOf(exchanges)
  return main === undefined
    ? { ...rest, messages_and_choices: trajectory['messages_and_choices'] ?? [] }
    : { ...rest, ...main, additional_histories }
}
