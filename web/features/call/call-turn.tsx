import type { Call } from '../../api/calls.ts'
import { objectOf } from '../../api/json.ts'
import { mediaOf } from '../../api/media.ts'
import type { Json } from '../../api/wire.ts'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { Conversation } from './conversation/conversation.tsx'
import { conversationOf, type Message } from './conversation/messages.ts'
import { ExceptionView } from './detail/exception-view.tsx'
import { MediaView } from './detail/media-view.tsx'

/** What one call added to a conversation. */
export function CallTurn({ project, call }: { project: string; call: Call }) {
  const { messages, answerAt } = turnOf(call)
  return (
    <>
      {messages.length > 0 && (
        <Conversation
          messages={messages}
          answerAt={answerAt}
          media={(value) => {
            const media = mediaOf(value)
            return media === undefined ? (
              <JsonView label="Part" value={value} maxHeight={160} />
            ) : (
              <MediaView project={project} media={media} />
            )
          }}
        />
      )}
      {call.exception !== null && call.exception !== '' && <ExceptionView exception={call.exception} />}
    </>
  )
}

/** Clients send the whole history with every turn; only messages after the last answer belong to this one. */
function turnOf(call: Call): { messages: Message[]; answerAt: number } {
  const whole = conversationOf(call)
  if (whole === undefined) return plainTurn(call)
  const asked = whole.messages.slice(0, whole.answerAt)
  const before = asked.findLastIndex(({ role }) => role === 'assistant') + 1
  const fresh = asked.slice(before).filter(({ role }) => role !== 'system' && role !== 'developer')
  return { messages: [...fresh, ...whole.messages.slice(whole.answerAt)], answerAt: 0 }
}

/** A function that is asked something and answers: its only argument, and what it returned. */
function plainTurn({ inputs, output }: Call): { messages: Message[]; answerAt: number } {
  const given = Object.entries(objectOf(inputs)).filter(([name]) => name !== 'self')
  const [only] = given
  const asked = given.length === 1 && only !== undefined ? only[1] : inputs
  const messages: Message[] = []
  if (given.length > 0) messages.push(messageOf('user', asked ?? null))
  if (output !== null) messages.push(messageOf('assistant', output))
  return { messages, answerAt: 0 }
}

function messageOf(role: string, value: Json): Message {
  return {
    role,
    parts: [typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'value', value }],
  }
}
