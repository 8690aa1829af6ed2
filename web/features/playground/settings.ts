import { z } from 'zod/mini'
import type { ChatMessage, ChatRequest } from '../../api/completions.ts'
import { PARAMETERS, parameterValue } from './parameters.ts'

/** What is asked beside the messages, as it is written: it may be wrong until it is sent. */
export const Settings = z.object({
  system: z._default(z.string(), ''),
  parameters: z._default(z.record(z.string(), z.string()), {}),
  /** JSON: a list of tools. */
  tools: z._default(z.string(), ''),
  /** JSON: a schema that answers follow. */
  schema: z._default(z.string(), ''),
  /** JSON: an object of any other fields. */
  others: z._default(z.string(), ''),
})
export type Settings = z.infer<typeof Settings>
export const NO_SETTINGS: Settings = Settings.parse({})

/** What is sent: only what was set. @throws Error in words for a person. */
export function requestOf(model: string, settings: Settings, messages: readonly ChatMessage[]): ChatRequest {
  const request: ChatRequest = {
    model,
    messages: [
      ...(settings.system.trim() === '' ? [] : [{ role: 'system', content: settings.system }]),
      ...messages,
    ],
  }
  for (const parameter of PARAMETERS) {
    const text = settings.parameters[parameter.name]
    if (text !== undefined && text !== '') request[parameter.name] = parameterValue(parameter, text)
  }
  const tools = parsed(settings.tools, 'The tools')
  if (tools !== undefined) {
    if (!Array.isArray(tools)) throw new Error('The tools are not a list')
    if (tools.length > 0) request['tools'] = tools
  }
  const schema = parsed(settings.schema, 'The schema')
  if (schema !== undefined)
    request['response_format'] = { type: 'json_schema', json_schema: { name: 'answer', schema } }
  const others = parsed(settings.others, 'The other fields')
  if (others !== undefined) {
    if (typeof others !== 'object' || others === null || Array.isArray(others))
      throw new Error('The other fields are not an object')
    Object.assign(request, others)
  }
  return request
}

/** JSON that a person wrote; undefined for nothing. @throws Error that names `what`. */
export function parsed(text: string, what: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${what}: not JSON (${error instanceof Error ? error.message : 'unreadable'})`)
  }
}

/** How many things are set, for the button that opens them. */
export function countSettings({ system, parameters, tools, schema, others }: Settings): number {
  const texts = [system, tools, schema, others, ...Object.values(parameters)]
  return texts.filter((text) => text.trim() !== '').length
}
