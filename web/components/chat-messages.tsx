import { toolCallOf } from '../api/tool-call.ts'
import { classNames } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'

/** A message as chat models take and give it; whatever else it holds is not shown. */
export interface ShownMessage {
  role: string
  content?: unknown
  name?: string
  tool_call_id?: string
  /** As a client recorded them. */
  tool_calls?: unknown
  reasoning?: string | null
}

const EDGES: Record<string, string> = {
  assistant: 'border-kind-llm',
  tool: 'border-kind-tool',
  system: 'border-line',
  user: 'border-kind-agent',
}

/** A conversation, as it was said: nothing is rendered but text, since models are trained on exactly this. */
export function ChatMessages({ messages }: { messages: readonly ShownMessage[] }) {
  return (
    <ol className="flex flex-col gap-2">
      {messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place in the conversation
        <li key={index}>
          <ChatMessageView message={message} />
        </li>
      ))}
    </ol>
  )
}

function ChatMessageView({ message }: { message: ShownMessage }) {
  const text = contentText(message.content)
  return (
    <article
      className={classNames(
        'group/message rounded-md border-s-2 bg-inset/60 px-3 py-2',
        EDGES[message.role] ?? 'border-line',
      )}
    >
      <header className="flex h-5 items-center gap-2 text-2xs text-muted">
        <span className="font-strong">{message.role}</span>
        {message.name !== undefined && <span>{message.name}</span>}
        {message.tool_call_id !== undefined && <span className="font-mono">{message.tool_call_id}</span>}
        {text !== '' && (
          <CopyButton
            text={text}
            label="Copy message"
            className="ms-auto opacity-0 group-hover/message:opacity-100 focus-visible:opacity-100"
          />
        )}
      </header>
      {message.reasoning != null && message.reasoning !== '' && (
        <details className="mb-1 text-xs text-muted">
          <summary className="cursor-pointer">reasoning</summary>
          <p className="whitespace-pre-wrap wrap-anywhere">{message.reasoning}</p>
        </details>
      )}
      {text !== '' && <p className="whitespace-pre-wrap text-normal wrap-anywhere">{text}</p>}
      {callTexts(message.tool_calls).map((text, index) => (
        <pre
          // biome-ignore lint/suspicious/noArrayIndexKey: a call is its place in the message
          key={index}
          className="mt-1 rounded-sm bg-panel px-2 py-1 font-mono text-xs whitespace-pre-wrap wrap-anywhere"
        >
          {text}
        </pre>
      ))}
    </article>
  )
}

function callTexts(recorded: unknown): string[] {
  if (!Array.isArray(recorded)) return []
  return recorded.map((one: unknown) => {
    const call = toolCallOf(one)
    return call === undefined ? JSON.stringify(one) : `${call.function.name}(${call.function.arguments})`
  })
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (content == null) return ''
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content
    .map((part: { type?: string; text?: string } | null) => part?.text ?? `[${part?.type ?? 'part'}]`)
    .join('\n')
}
