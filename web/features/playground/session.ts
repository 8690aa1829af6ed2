import { z } from 'zod/mini'
import type { TokenLogprob, Usage } from '../../api/completions.ts'
import { toolCallOf } from '../../api/tool-call.ts'
import { recall, remember } from '../../components/remembered.ts'
import { NO_SETTINGS, Settings } from './settings.ts'

const Answer = z.object({
  finish: z.optional(z.string()),
  error: z.optional(z.string()),
  /** Milliseconds from the request to the first text. */
  firstMs: z.optional(z.number()),
  totalMs: z.optional(z.number()),
  usage: z.optional(z.custom<Usage>()),
  step: z.optional(z.number()),
  seed: z.optional(z.number()),
  logprobs: z.optional(z.custom<TokenLogprob[]>()),
})
export type Answer = z.infer<typeof Answer>

const ToolCalls = z.pipe(
  z.array(z.unknown()),
  z.transform((calls) => calls.flatMap((one) => toolCallOf(one) ?? [])),
)

const Message = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool', 'developer']),
  content: z.string(),
  reasoning: z.optional(z.string()),
  tool_calls: z.optional(ToolCalls),
  tool_call_id: z.optional(z.string()),
  /** Of what a model said here. */
  answer: z.optional(Answer),
})
export type Message = z.infer<typeof Message>

const Column = z.object({
  id: z.string(),
  model: z.string(),
  messages: z.array(Message),
  /** Instead of what all columns share. */
  own: z.optional(Settings),
})
export type Column = z.infer<typeof Column>

const Session = z.object({
  columns: z.array(Column).check(z.minLength(1)),
  shared: Settings,
  /** Of a replayed call: what was answered then, and what could not be taken over. */
  replayed: z.optional(z.object({ call: z.string(), answer: z.string(), lost: z.array(z.string()) })),
})
export type Session = z.infer<typeof Session>

let columnCount = 0

export function newColumn(model: string, messages: readonly Message[] = []): Column {
  return { id: `c${Date.now().toString(36)}${columnCount++}`, model, messages: [...messages] }
}

export function newSession(models: readonly string[]): Session {
  const columns = (models.length === 0 ? [''] : models).map((model) => newColumn(model))
  return { columns, shared: NO_SETTINGS }
}

/** The model of each column. */
export function modelsOf({ columns }: Pick<Session, 'columns'>): string[] {
  return columns.map(({ model }) => model)
}

export function settingsOf(session: Session, column: Column): Settings {
  return column.own ?? session.shared
}

/** The session with other settings: those of one column, or those that all share. */
export function withSettings(session: Session, columnId: string | undefined, settings: Settings): Session {
  if (!session.columns.some(({ id }) => id === columnId)) return { ...session, shared: settings }
  const columns = session.columns.map((column) =>
    column.id === columnId ? { ...column, own: settings } : column,
  )
  return { ...session, columns }
}

/** The session with other models in its columns; what was said stays where its column does. */
export function withModels(session: Session, models: readonly string[]): Session {
  const last = session.columns.at(-1)
  const columns = models.map((model, index) => {
    const column = session.columns[index]
    return column === undefined ? newColumn(model, questionsOf(last?.messages ?? [])) : { ...column, model }
  })
  return { ...session, columns: columns.length === 0 ? session.columns.slice(0, 1) : columns }
}

/** The messages before the first answer: a new column begins with them. */
export function questionsOf(messages: readonly Message[]): Message[] {
  const answered = messages.findIndex(({ answer }) => answer !== undefined)
  return messages.slice(0, answered < 0 ? messages.length : answered)
}

/** What a column ends with, if a model said it. */
export function lastAnswer(messages: readonly Message[] = []): string | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' ? last.content : undefined
}

const keyOf = (project: string) => `playground.${project}`

const isAnything = (_value: unknown): _value is unknown => true

/** What this tab had open before it was reloaded. */
export function loadSession(project: string): Session | undefined {
  return Session.safeParse(recall(keyOf(project), isAnything, 'tab')).data
}

export function saveSession(project: string, session: Session): void {
  remember(keyOf(project), session, 'tab')
}
