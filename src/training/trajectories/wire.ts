import { z } from 'zod'
import { DateTimeText } from '../../trace/date-time-wire.ts'
import { recordOf } from '../../wire/bounded-wire.ts'
import { Exchanges } from './exchanges-wire.ts'

/** One sampled token. Wire: `token` is `token_id:N` or the token's text. */
const TokenLogprob = z
  .looseObject({ token: z.string(), logprob: z.number().nullable() })
  .meta({ id: 'TrajectoryToken' })

/** A model's answer. Wire: it differs from a plain message by its keys. */
const Choice = z
  .looseObject({
    finish_reason: z.string().nullable(),
    message: z.looseObject({ role: z.string() }),
    logprobs: z.looseObject({ content: z.array(TokenLogprob).nullish() }).nullish(),
  })
  .meta({ id: 'TrajectoryChoice' })

const PlainMessage = z.looseObject({ role: z.string() }).meta({ id: 'TrajectoryMessage' })

const MessagesAndChoices = z.array(z.union([Choice, PlainMessage]))
const Tools = z.array(z.looseObject({})).nullish()

const History = z
  .looseObject({ messages_and_choices: MessagesAndChoices, tools: Tools })
  .meta({ id: 'TrajectoryHistory' })

/** Of one trajectory or group: a point in as many charts. */
const METRICS_MAX = 10_000

const Metrics = recordOf(z.union([z.number(), z.boolean()]), METRICS_MAX).nullish()

/** As the trainer has it: means and deviations of rewards stay far below what a float can hold, 1.8e308. */
const REWARD_MAX = 1e100

const Trajectory = z
  .looseObject({
    messages_and_choices: MessagesAndChoices.default([]),
    exchanges: Exchanges.nullish(),
    reward: z.number().min(-REWARD_MAX).max(REWARD_MAX).default(0),
    tools: Tools,
    additional_histories: z.array(History).nullish(),
    initial_policy_version: z.int().nullish(),
    final_policy_version: z.int().nullish(),
    metrics: Metrics,
    metadata: z.looseObject({}).nullish(),
    logs: z.array(z.unknown()).nullish(),
    start_time: DateTimeText.nullish(),
  })
  .refine(hasOneForm, {
    error: 'A trajectory has either exchanges or messages_and_choices, tools and additional_histories',
  })
  .meta({ id: 'Trajectory' })

interface Forms {
  exchanges?: object | null | undefined
  messages_and_choices?: unknown[] | undefined
  additional_histories?: unknown[] | null | undefined
  tools?: unknown[] | null | undefined
}

function hasOneForm({ exchanges, messages_and_choices, additional_histories, tools }: Forms): boolean {
  const hasExchanges = Object.values(exchanges ?? {}).some((list) => Array.isArray(list) && list.length > 0)
  const hasHistories = Boolean(messages_and_choices?.length || additional_histories?.length || tools)
  return !(hasExchanges && hasHistories)
}

/**
 * Attempts at one task, to be compared with each other. Wire: unknown keys are kept and shown; newer clients leave out
 * defaults.
 */
export const TrajectoryGroup = z
  .looseObject({
    trajectories: z.array(Trajectory).default([]),
    metrics: Metrics,
    exceptions: z
      .array(z.looseObject({ type: z.string(), message: z.string(), traceback: z.string().nullish() }))
      .nullish(),
  })
  .meta({ id: 'TrajectoryGroup' })
export type TrajectoryGroup = z.output<typeof TrajectoryGroup>

export const LogPath = z.object({ model_id: z.string() })

const SPLIT_RULE = 'A split is a name such as "train" or "val"'

/** Members of a log's body beside its groups. Wire: `model_id` repeats the path. */
export const LogHead = z.object({
  split: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[^/]+$/, SPLIT_RULE)
    .refine((split) => !/[\p{Cc}\p{Cs}]/u.test(split), SPLIT_RULE),
})

/** The whole body, for the API description. */
export const LogReq = LogHead.extend({ trajectory_groups: z.array(TrajectoryGroup) })

/** Wire: clients read no member of this. */
export const LogRes = z
  .object({
    step: z.int().nullable(),
    metrics: z.record(z.string(), z.number()),
    num_calls: z.int(),
  })
  .meta({ id: 'TrajectoriesLogged' })
export type LogRes = z.input<typeof LogRes>
