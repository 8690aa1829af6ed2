import type { Call } from '../../api/calls.ts'
import { chatRequestOf } from '../../api/chat-request.ts'
import type { ProjectName } from '../../api/project.ts'
import { type ToolCall, toolCallOf } from '../../api/tool-call.ts'
import type { Json } from '../../api/wire.ts'
import { PARAMETERS, writtenOf } from './parameters.ts'
import type { Message } from './session.ts'
import { NO_SETTINGS, type Settings } from './settings.ts'

export interface Replay {
  model: string
  messages: Message[]
  settings: Settings
  /** The original answer. */
  answer: string
  /** What the call holds and the playground cannot send, or what the call does not hold. */
  lost: string[]
}

/** Members of inputs that say how it was asked, and not what. */
const SILENT = new Set(['model', 'stream', 'stream_options', 'response_format'])

/** Fields of the chat API that may be written as JSON; whatever else a call holds is its client's own. */
const OTHERS = new Set([
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'stop_token_ids',
  'structured_outputs',
  'chat_template_kwargs',
  'max_completion_tokens',
  'include_reasoning',
  'user',
  'min_tokens',
])

type Object = { [key: string]: Json | undefined }
const isObject = (value: unknown): value is Object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer'] as const

/** The request of a traced call, ready to be repeated; undefined for a call without a chat request. */
export function replayOf(
  { inputs, output, attributes }: Pick<Call, 'id' | 'inputs' | 'output' | 'attributes'>,
  project?: ProjectName,
): Replay | undefined {
  const request = chatRequestOf({ inputs, output })
  if (request === undefined) return undefined
  const { rest } = request
  const lost: string[] = []
  const settings = { ...NO_SETTINGS, parameters: { ...NO_SETTINGS.parameters } }
  const others: Object = {}
  for (const [name, value] of Object.entries(rest)) {
    if (value == null || SILENT.has(name)) continue
    const parameter = PARAMETERS.find((known) => known.name === name)
    const written = parameter && writtenOf(parameter, value)
    if (written !== undefined) settings.parameters[name] = written
    else if (parameter !== undefined || OTHERS.has(name)) others[name] = value
    else lost.push(name)
  }
  if (Object.keys(others).length > 0) settings.others = pretty(others)
  if (request.tools.length > 0) settings.tools = pretty([...request.tools])
  const messages = request.messages.flatMap((message, index) => messageOf(message, index, lost))
  if (messages[0]?.role === 'system') settings.system = messages.shift()?.content ?? ''
  takeFormat(rest['response_format'], settings, lost)
  const trajectory = isObject(attributes) ? attributes['trajectory'] : undefined
  if (isObject(trajectory)) lost.push('sampling parameters: trajectories come without them')
  const model = isObject(trajectory)
    ? trajectoryModel(trajectory, project)
    : typeof rest['model'] === 'string'
      ? rest['model'].replace(/^wandb-artifact:\/\/\//, '')
      : ''
  return { model, messages, settings, answer: answerOf(output), lost }
}

function takeFormat(format: Json | undefined, settings: Settings, lost: string[]): void {
  if (!isObject(format)) return
  const schema = isObject(format['json_schema']) ? format['json_schema']['schema'] : undefined
  if (schema != null) settings.schema = pretty(schema)
  else if (format['type'] !== 'text') lost.push('response_format')
}

function trajectoryModel(trajectory: Object, project: ProjectName | undefined): string {
  const { model, initial_policy_version: step } = trajectory
  if (typeof model !== 'string' || project === undefined) return ''
  return `${project.entity}/${project.project}/${model}${typeof step === 'number' ? `:step${step}` : ''}`
}

function messageOf(message: Json, index: number, lost: string[]): Message[] {
  if (!isObject(message)) return []
  const role = ROLES.find((known) => known === message['role'])
  if (role === undefined) {
    lost.push(`message ${index + 1} of role ${String(message['role'])}`)
    return []
  }
  const { tool_call_id, reasoning } = message
  const tool_calls = toolCallsOf(message['tool_calls'], index, lost)
  return [
    {
      role,
      content: textOf(message['content'], index, lost),
      ...(typeof reasoning === 'string' && { reasoning }),
      ...(tool_calls.length > 0 && { tool_calls }),
      ...(typeof tool_call_id === 'string' && { tool_call_id }),
    },
  ]
}

function toolCallsOf(recorded: Json | undefined, index: number, lost: string[]): ToolCall[] {
  if (!Array.isArray(recorded)) return []
  return recorded.flatMap((one) => {
    const call = toolCallOf(one)
    if (call === undefined) lost.push(`a tool call in message ${index + 1}`)
    return call ?? []
  })
}

function textOf(content: Json | undefined, index: number, lost: string[]): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map((part) => {
    if (isObject(part) && typeof part['text'] === 'string') return part['text']
    lost.push(`${isObject(part) ? String(part['type']) : 'a part'} in message ${index + 1}`)
    return ''
  })
  return texts.join('\n')
}

/** The text of a chat completion, of a response, or of whatever the call returned. */
function answerOf(output: Json): string {
  const items = isObject(output) ? output['output'] : undefined
  if (Array.isArray(items)) return items.map(textOfItem).filter(Boolean).join('\n')
  const choices = isObject(output) ? output['choices'] : undefined
  const first = Array.isArray(choices) ? choices[0] : undefined
  const message = isObject(first) ? first['message'] : undefined
  if (isObject(message) && typeof message['content'] === 'string') return message['content']
  return typeof output === 'string' ? output : ''
}

/** What a message of a response says; nothing for its other items. */
function textOfItem(item: Json): string {
  if (!isObject(item) || item['type'] !== 'message' || !Array.isArray(item['content'])) return ''
  return item['content'].flatMap((part) => (isObject(part) ? [part['text'] ?? ''] : [])).join('')
}

function pretty(value: Json): string {
  return JSON.stringify(value, null, 2)
}
