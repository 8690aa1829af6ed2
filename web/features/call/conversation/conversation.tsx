import { type ReactNode, useMemo, useState } from 'react'
import type { Json } from '../../../api/wire.ts'
import { Button } from '../../../components/button.tsx'
import { MessageView } from './message-view.tsx'
import type { Message } from './messages.ts'
import { pairResults } from './pairing.ts'

interface ConversationProps {
  messages: readonly Message[]
  /** From here on, the answer. */
  answerAt: number
  /** Shows a picture or a sound. */
  media: (value: Json) => ReactNode
}

/** A history longer than this folds its middle. */
const SHOWN_WHOLE = 14
const SHOWN_FIRST = 2
const SHOWN_LAST = 8

/** The messages, with tool calls beside their results. */
export function Conversation({ messages, answerAt, media }: ConversationProps) {
  const [isWhole, setWhole] = useState(false)
  const { results, paired } = useMemo(() => pairResults(messages), [messages])
  const shown = messages
    .map((message, index) => ({ message, index }))
    .filter(({ message }) => !message.parts.every((part) => paired.has(part)) || message.parts.length === 0)
  const isFolded = !isWhole && shown.length > SHOWN_WHOLE
  const first = isFolded ? shown.slice(0, SHOWN_FIRST) : shown
  const last = isFolded ? shown.slice(-SHOWN_LAST) : []
  const hidden = shown.length - first.length - last.length
  const item = ({ message, index }: { message: Message; index: number }) => (
    <li key={index} className="flex flex-col gap-2">
      {index === answerAt && answerAt > 0 && (
        <p
          aria-hidden
          className="flex items-center gap-2 pt-1 text-2xs text-muted before:h-px before:flex-1 before:bg-hair after:h-px after:flex-1 after:bg-hair"
        >
          answer
        </p>
      )}
      <MessageView message={message} results={results} media={media} />
    </li>
  )
  return (
    <ol aria-label="Conversation" className="flex flex-col gap-2">
      {first.map(item)}
      {hidden > 0 && (
        <li>
          <Button size="small" className="w-full" onClick={() => setWhole(true)}>
            Show {hidden} messages between
          </Button>
        </li>
      )}
      {last.map(item)}
    </ol>
  )
}
