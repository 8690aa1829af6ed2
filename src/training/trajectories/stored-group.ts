import { z } from 'zod'
import {
  type JsonText,
  type KeepShape,
  parseKeeping,
  parseLossless,
  stringify,
} from '../../json/lossless-json.ts'
import { historiesOf } from './exchanges.ts'

/** The members of a trajectory, each as its text. */
type Trajectory = Record<string, JsonText | null>

/** Messages and choices stay text: to read those of 10 MB takes seconds. */
const KEEP: KeepShape = { '*': 'text', trajectories: { '*': { '*': 'text' } } }

/**
 * A group in the one form that calls and the trainer read: each trajectory with messages and choices and a reward.
 * Wire: newer clients leave out defaults, and may record exchanges in place of messages and choices.
 * @param text the group, whose `value` has been checked
 */
export function storedGroup(text: string, value: unknown): string {
  if (Stored.safeParse(value).success) return text
  const { trajectories, ...group } = parseKeeping(text, KEEP) as { trajectories?: Trajectory[] }
  return stringify({ ...group, trajectories: (trajectories ?? []).map(storedTrajectory) })
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

function storedTrajectory({ exchanges, messages_and_choices, reward, ...others }: Trajectory): object {
  const rest = { ...others, reward: reward ?? 0 }
  const [main, ...additional_histories] = exchanges == null ? [] : historiesOf(parseLossless(exchanges.text))
  return main === undefined
    ? { ...rest, messages_and_choices: messages_and_choices ?? [] }
    : { ...rest, ...main, additional_histories }
}
