import { z } from 'zod'
import { listOf } from '../../wire/bounded-wire.ts'

export const UploadRes = z
  .object({
    id: z.uuid(),
    training_data_url: z.string(),
    lines: z.int(),
    bytes: z.int(),
  })
  .meta({ id: 'TrainingData' })
export type UploadRes = z.input<typeof UploadRes>

const TrainingMessage = z
  .looseObject({
    role: z.string(),
    weight: z.literal([0, 1]).nullish().describe('0: this turn of the assistant is not trained on'),
  })
  .meta({ id: 'TrainingMessage' })

/** Far above what a model is trained on at once. */
const MESSAGES_MAX = 10_000

/** One conversation a line. Clients may also send trajectories, whose choices count as assistant messages. */
export const TrainingLine = z
  .union([
    z
      .looseObject({ messages: listOf(TrainingMessage, MESSAGES_MAX, 1) })
      .meta({ id: 'TrainingConversation' }),
    z
      .looseObject({ messages_and_choices: listOf(z.looseObject({}), MESSAGES_MAX, 1) })
      .meta({ id: 'TrainingTrajectory' }),
  ])
  .meta({ id: 'TrainingLine' })

export const TrainingDataPath = z.object({ training_data_id: z.uuid() })

export const TrainingDataDeleteRes = z.object({ deleted: z.boolean() })
export type TrainingDataDeleteRes = z.input<typeof TrainingDataDeleteRes>
