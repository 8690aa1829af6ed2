import { useCallback, useEffect, useRef, useState } from 'react'
import { type Chunk, type Delta, streamChat, type TokenLogprob } from '../../api/completions.ts'
import type { ProjectName } from '../../api/project.ts'
import { messageOf } from '../../components/message-of.ts'
import { type Answer, type Column, type Message, type Session, settingsOf } from './session.ts'
import { requestOf } from './settings.ts'

/** A message whose copies are known by what they have of its answer. */
type WrittenMessage = Message & { answer: Answer }

/** An answer that is being written. */
interface Pending {
  message: WrittenMessage
  controller: AbortController
}

type UpdateColumn = (columnId: string, change: (column: Column) => Column) => void

/** Answers that are being written. */
export interface Answers {
  /** Asks the model of a column to answer these messages; an answer in progress ends. */
  run: (id: string, messages: readonly Message[]) => Promise<void>
  /** Ends the answer of a column, or of all. */
  stop: (id?: string) => void
  /** The columns whose answers are being written. */
  running: ReadonlySet<string>
}

/**
 * Asks models and records their answers. Chunks go into a buffer, and the view is updated once a frame, however many of
 * them arrive in between.
 */
export function useAnswers(project: ProjectName, session: Session, update: UpdateColumn): Answers {
  const pending = useRef(new Map<string, Pending>())
  const [running, setRunning] = useState<ReadonlySet<string>>(new Set())
  const dirty = useRef(new Set<string>())
  const frame = useRef(0)
  const latest = useRef(session)
  useEffect(() => {
    latest.current = session
  })

  const draw = useCallback(() => {
    frame.current = 0
    for (const id of dirty.current) {
      const message = pending.current.get(id)?.message
      if (message !== undefined) update(id, (column) => withAnswer(column, { ...message }))
    }
    dirty.current.clear()
  }, [update])

  const touch = useCallback(
    (id: string) => {
      dirty.current.add(id)
      if (frame.current === 0) frame.current = requestAnimationFrame(draw)
    },
    [draw],
  )

  const stop = useCallback((id?: string) => {
    for (const [column, { controller }] of pending.current)
      if (id === undefined || id === column) controller.abort()
  }, [])

  // The page was left, so the answer is not read.
  useEffect(() => () => stop(), [stop])

  const run = useCallback(
    async (id: string, messages: readonly Message[]) => {
      pending.current.get(id)?.controller.abort()
      const column = latest.current.columns.find((candidate) => candidate.id === id)
      if (column === undefined) return
      const controller = new AbortController()
      const message: WrittenMessage = { role: 'assistant', content: '', answer: {} }
      const entry = { message, controller }
      pending.current.set(id, entry)
      setRunning(new Set(pending.current.keys()))
      update(id, (old) => ({ ...old, messages: [...messages, { ...message }] }))
      await answer({
        project,
        column,
        session: latest.current,
        messages,
        message,
        controller,
        onChange: () => touch(id),
      })
      if (pending.current.get(id) !== entry) return
      pending.current.delete(id)
      setRunning(new Set(pending.current.keys()))
      update(id, (old) => withAnswer(old, { ...message }))
    },
    [project, touch, update],
  )
  return { run, stop, running }
}

/** An answer that was removed meanwhile stays removed, whatever else was. */
function withAnswer(column: Column, message: WrittenMessage): Column {
  return {
    ...column,
    messages: column.messages.map((one) => (one.answer === message.answer ? message : one)),
  }
}

interface Asked {
  project: ProjectName
  column: Column
  session: Session
  messages: readonly Message[]
  /** Is filled in. */
  message: WrittenMessage
  controller: AbortController
  onChange: () => void
}

/** An error becomes a part of the answer. */
async function answer({
  project,
  column,
  session,
  messages,
  message,
  controller,
  onChange,
}: Asked): Promise<void> {
  const started = performance.now()
  const facts = message.answer
  try {
    const request = requestOf(column.model, settingsOf(session, column), messages.map(sent))
    if (typeof request['seed'] === 'number') facts.seed = request['seed']
    for await (const chunk of streamChat(request, { project, signal: controller.signal })) {
      if (chunk.error !== undefined) throw new Error(chunk.error.message ?? 'The engine failed')
      takeChunk(message, facts, chunk)
      if (facts.firstMs === undefined && message.content !== '') facts.firstMs = performance.now() - started
      onChange()
    }
  } catch (error) {
    if (controller.signal.aborted) facts.finish = 'stopped'
    else facts.error = messageOf(error)
  }
  facts.totalMs = performance.now() - started
}

/** A message as it is sent: without what is known of the answer. */
function sent({ answer: _answer, ...message }: Message): Message {
  return message
}

function takeChunk(message: Message, facts: Answer, { choices, usage }: Chunk): void {
  if (usage != null) facts.usage = usage
  const [choice] = choices ?? []
  if (choice === undefined) return
  if (choice.finish_reason != null) facts.finish = choice.finish_reason
  if (choice.policy !== undefined) facts.step = choice.policy.step
  const logprobs: TokenLogprob[] = choice.logprobs?.content ?? []
  if (logprobs.length > 0) facts.logprobs = [...(facts.logprobs ?? []), ...logprobs]
  takeDelta(message, choice.delta ?? {})
}

function takeDelta(message: Message, { content, reasoning, tool_calls }: Delta): void {
  if (content != null) message.content += content
  if (reasoning != null) message.reasoning = (message.reasoning ?? '') + reasoning
  for (const part of tool_calls ?? []) {
    message.tool_calls ??= []
    const index = part.index ?? 0
    message.tool_calls[index] ??= { type: 'function', function: { name: '', arguments: '' } }
    const call = message.tool_calls[index]
    if (part.id !== undefined) call.id = part.id
    call.function.name += part.function?.name ?? ''
    call.function.arguments += part.function?.arguments ?? ''
  }
}
