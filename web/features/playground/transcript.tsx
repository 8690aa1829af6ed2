import { Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { DiffText } from '../../components/diff-text.tsx'
import { AnswerFacts } from './answer-facts.tsx'
import { SchemaCheck } from './schema-check.tsx'
import type { Message } from './session.ts'

interface TranscriptProps {
  messages: readonly Message[]
  isRunning: boolean
  /** The answer that the last one is compared with. */
  compared: string | undefined
  schema: string
  onEdit: (index: number, content: string) => void
  onDelete: (index: number) => void
  /** Asks again for the answer at this place. */
  onRegenerate: (index: number) => void
}

/** This near to its end, a list follows what comes. */
const TAIL_PX = 32

/** The messages of one column; the view follows the end only while the end is in view. */
export const Transcript = memo(function Transcript(props: TranscriptProps) {
  const { messages, isRunning, compared } = props
  const scroller = useRef<HTMLDivElement>(null)
  const isAtTail = useRef(true)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element !== null && isAtTail.current) element.scrollTop = element.scrollHeight
  })
  const last = messages.length - 1
  return (
    <div
      ref={scroller}
      role="log"
      aria-label="Conversation"
      aria-busy={isRunning}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
      className="thin-scroll flex min-h-0 flex-1 flex-col gap-2 overflow-y-auto p-3"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtTail.current = scrollHeight - scrollTop - clientHeight < TAIL_PX
      }}
    >
      {messages.length === 0 && (
        <p className="text-xs text-muted">Write below: each column answers by itself.</p>
      )}
      {messages.map((message, index) => (
        <MessageView
          // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place in the conversation
          key={index}
          message={message}
          index={index}
          isRunning={isRunning && index === last}
          compared={index === last ? compared : undefined}
          schema={index === last ? props.schema : ''}
          onEdit={props.onEdit}
          onDelete={props.onDelete}
          onRegenerate={props.onRegenerate}
        />
      ))}
    </div>
  )
})

interface MessageProps extends Pick<TranscriptProps, 'onEdit' | 'onDelete' | 'onRegenerate' | 'schema'> {
  message: Message
  index: number
  isRunning: boolean
  compared: string | undefined
}

const MessageView = memo(function MessageView(props: MessageProps) {
  const { message, index, isRunning, compared } = props
  const [draft, setDraft] = useState<string>()
  const isAnswer = message.role === 'assistant'
  return (
    <article
      aria-label={message.role}
      className={classNames(
        'group/message flex flex-col gap-1 rounded-md border-s-2 px-3 py-2',
        isAnswer ? 'border-kind-llm bg-panel' : 'border-kind-agent bg-inset/60',
      )}
    >
      <header className="flex h-6 items-center gap-1 text-2xs text-muted">
        <span className="flex-1 font-strong">{message.role}</span>
        <span className="flex opacity-0 group-focus-within/message:opacity-100 group-hover/message:opacity-100 coarse:opacity-100">
          <CopyButton text={message.content} label="Copy message" />
          {isAnswer && !isRunning && (
            <IconButton
              size="small"
              label="Ask again"
              icon={<RotateCcw size={13} />}
              onClick={() => props.onRegenerate(index)}
            />
          )}
          {!isRunning && (
            <>
              <IconButton
                size="small"
                label="Edit message"
                icon={<Pencil size={13} />}
                onClick={() => setDraft(message.content)}
              />
              <IconButton
                size="small"
                label="Delete message"
                icon={<Trash2 size={13} />}
                onClick={() => props.onDelete(index)}
              />
            </>
          )}
        </span>
      </header>
      {message.reasoning !== undefined && message.reasoning !== '' && (
        <details className="text-xs text-muted">
          <summary className="cursor-pointer">reasoning</summary>
          <p className="whitespace-pre-wrap wrap-anywhere">{message.reasoning}</p>
        </details>
      )}
      {draft === undefined ? (
        <MessageText message={message} isRunning={isRunning} compared={compared} />
      ) : (
        <EditForm
          draft={draft}
          onDraft={setDraft}
          onDone={(content) => {
            if (content !== undefined) props.onEdit(index, content)
            setDraft(undefined)
          }}
        />
      )}
      {!isRunning && props.schema !== '' && isAnswer && message.content !== '' && (
        <SchemaCheck schema={props.schema} text={message.content} />
      )}
      {message.answer !== undefined && <AnswerFacts answer={message.answer} isRunning={isRunning} />}
    </article>
  )
})

function MessageText({
  message,
  isRunning,
  compared,
}: {
  message: Message
  isRunning: boolean
  compared: string | undefined
}) {
  return (
    <>
      {compared !== undefined && !isRunning ? (
        <DiffText before={compared} after={message.content} />
      ) : (
        <p className="min-h-4.5 whitespace-pre-wrap wrap-anywhere">
          {message.content}
          {isRunning && (
            <span
              className="animate-slow ms-0.5 inline-block h-3.5 w-1.5 bg-running align-middle"
              aria-hidden
            />
          )}
        </p>
      )}
      {(message.tool_calls ?? []).map((call, index) => (
        <pre
          key={call.id ?? index}
          className="rounded-sm bg-inset px-2 py-1 font-mono text-xs whitespace-pre-wrap wrap-anywhere"
        >
          {call.function.name}({call.function.arguments})
        </pre>
      ))}
    </>
  )
}

interface EditFormProps {
  draft: string
  onDraft: (text: string) => void
  /** Undefined: as it was. */
  onDone: (text: string | undefined) => void
}

function EditForm({ draft, onDraft, onDone }: EditFormProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onDone(draft)
      }}
    >
      <textarea
        ref={field}
        aria-label="Message"
        value={draft}
        rows={Math.min(12, draft.split('\n').length + 1)}
        className="w-full resize-y rounded-md border border-line/60 bg-panel p-2 text-sm"
        onChange={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone(undefined)
        }}
      />
      <span className="flex gap-2">
        <Button size="small" type="submit">
          Keep
        </Button>
        <Button size="small" look="quiet" onClick={() => onDone(undefined)}>
          Cancel
        </Button>
      </span>
    </form>
  )
}
