import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ClientError } from '../errors.ts'
import { JsonText, stringify } from '../json/lossless-json.ts'
import { checkDigestible } from '../trace/digestible.ts'
import { callRef } from '../trace/ref-uri.ts'
import { type Candidate, textAt, valueAt } from './candidate.ts'
import type { Conversation } from './chat-shapes.ts'
import type { Into } from './wire.ts'

/** The result for one call. */
export interface Row {
  callId: string
  /** The row of the dataset. */
  text: string
  /** For trajectory groups. */
  trajectory?: { text: string; group: string; reward: number }
}

/** A row, or the reason why a call makes none. */
export type Made = { row: Row } | { reason: string }

export interface RowSource {
  projectId: string
  candidate: Candidate
  score: number | undefined
}

/** The row, unless no dataset can hold it: one such value must not fail the whole request. */
export function ifHoldable(make: () => Made): Made {
  try {
    const made = make()
    if ('row' in made) checkDigestible(made.row.text)
    return made
  } catch (error) {
    // Values of calls may be nested too deeply to be digested or written, which is a RangeError.
    if (error instanceof ClientError || error instanceof RangeError) return { reason: NOT_HOLDABLE }
    throw error
  }
}

const NOT_HOLDABLE =
  'has a value that no dataset can hold: nested too deeply, or a text that begins like a ref and is none'

/** Characters of a row: several columns may have the same large value. */
const ROW_CHARS_MAX = 64 * 1024 * 1024

/** A row with the requested columns. */
export function rowOfColumns({ projectId, candidate }: RowSource, columns: Record<string, string>): Made {
  const members: Record<string, JsonText | string> = {}
  let chars = 0
  for (const [name, path] of Object.entries(columns)) {
    const text = textAt(candidate, path)
    if (text === undefined) return { reason: `has nothing at ${path}` }
    chars += text.length
    if (chars > ROW_CHARS_MAX) return { reason: `has more than ${ROW_CHARS_MAX} characters at these columns` }
    members[name] = new JsonText(text)
  }
  const { id } = candidate.call
  return { row: { callId: id, text: stringify({ ...members, call: callRef(projectId, id) }) } }
}

/** A row that can be trained on. */
export function rowOfConversation(
  { projectId, candidate, score }: RowSource,
  { prompt, answer, tools, isCutOff }: Conversation,
): Made {
  if (isCutOff) return { reason: 'has an answer that a limit of tokens or a filter cut off' }
  const { id } = candidate.call
  const call = callRef(projectId, id)
  return { row: { callId: id, text: JSON.stringify({ messages: [...prompt, answer], tools, score, call }) } }
}

type GroupsOptions = Extract<Into, { trajectory_groups: unknown }>['trajectory_groups']

/** A row that is also a trajectory, with its group. */
export function rowOfTrajectory(source: RowSource, conversation: Conversation, options: GroupsOptions): Made {
  const { candidate, projectId } = source
  const { prompt, answer, tools } = conversation
  const reward = options.reward == null ? source.score : numberAt(candidate, options.reward)
  if (reward === undefined) return { reason: `has no number at ${options.reward}` }
  const asked =
    options.group_by == null ? JSON.stringify({ prompt, tools }) : textAt(candidate, options.group_by)
  if (asked === undefined) return { reason: `has nothing at ${options.group_by}` }
  const choice = choiceOf(conversation)
  const mayTrain = options.train?.config?.allow_training_without_logprobs === true
  if (options.train != null && !mayTrain && choice.logprobs === null) return { reason: WITHOUT_LOGPROBS }
  const call = callRef(projectId, candidate.call.id)
  const trajectory = {
    messages_and_choices: [...prompt, choice],
    tools: tools ?? null,
    additional_histories: [],
    reward,
    metrics: {},
    metadata: { call_id: candidate.call.id, call },
    logs: [],
  }
  return {
    row: {
      callId: candidate.call.id,
      text: JSON.stringify({ messages: [...prompt, answer], tools, score: reward, call }),
      trajectory: {
        text: JSON.stringify(trajectory),
        group: createHash('sha256').update(asked).digest('base64url'),
        reward,
      },
    },
  }
}

const WITHOUT_LOGPROBS =
  'has no log-probabilities: ask models with logprobs, or train with config.allow_training_without_logprobs'

function numberAt(candidate: Candidate, path: string): number | undefined {
  const value = valueAt(candidate, path)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'number' ? value : undefined
}

const Logprobs = z.looseObject({
  content: z.array(z.looseObject({ token: z.string(), logprob: z.number().nullable() })).min(1),
})

/** The answer with its token ids and log-probabilities, so that training can be on-policy. */
function choiceOf({ choice, answer }: Conversation) {
  const logprobs = Logprobs.safeParse(choice?.['logprobs'])
  const reason = choice?.['finish_reason']
  return {
    ...choice,
    index: 0,
    finish_reason: typeof reason === 'string' ? reason : 'stop',
    message: answer,
    logprobs: logprobs.success ? logprobs.data : null,
  }
}
