import { CornerDownLeft, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type ProjectName, projectId } from '../../api/project.ts'
import { useReadOnly } from '../../api/read-only.ts'
import { Button } from '../../components/button.tsx'
import { useKeys } from '../../components/keys.ts'
import type { Column } from './session.ts'

interface ComposerProps {
  project: ProjectName
  columns: readonly Column[]
  /** With an empty text, the messages so far are sent. */
  onSend: (text: string) => void
  onStop: () => void
  isRunning: boolean
}

const ROWS_MAX = 10

/** One field for all columns. */
export function Composer({ project, columns, onSend, onStop, isRunning }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState('')
  const readOnly = useReadOnly(projectId(project))
  const problem = readOnly ?? problemOf(columns, text)
  const send = () => {
    if (isRunning || problem !== undefined) return
    onSend(text)
    setText('')
  }
  useKeys('Playground', [
    { keys: 'mod+Enter', does: 'Ask every column', run: send },
    { keys: 'i', does: 'Write', run: () => field.current?.focus() },
    ...(isRunning ? [{ keys: 'Escape', does: 'Stop', run: onStop }] : []),
  ])
  useEffect(() => field.current?.focus(), [])
  return (
    <div className="flex shrink-0 items-end gap-2 border-t border-hair bg-panel p-3">
      <textarea
        ref={field}
        aria-label="Message to all columns"
        placeholder={readOnly ?? 'Write a message; Enter asks, shift and Enter breaks the line'}
        disabled={readOnly !== undefined}
        value={text}
        rows={Math.min(ROWS_MAX, Math.max(2, text.split('\n').length))}
        className="min-w-0 flex-1 resize-none rounded-md border border-line/60 bg-panel px-3 py-2 text-sm text-strong placeholder:text-muted coarse:text-base"
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isRunning ? (
        <Button icon={<Square size={13} />} onClick={() => onStop()}>
          Stop
        </Button>
      ) : (
        <Button
          look="primary"
          icon={<CornerDownLeft size={14} />}
          disabled={problem !== undefined}
          title={problem}
          onClick={send}
        >
          {columns.length > 1 ? `Ask ${columns.length}` : 'Ask'}
        </Button>
      )}
    </div>
  )
}

/** Why no message can be sent. */
function problemOf(columns: readonly Column[], text: string): string | undefined {
  if (columns.some(({ model }) => model === '')) return 'Choose a model first'
  const isAsked = columns.every(
    ({ messages }) => messages.length > 0 && messages.at(-1)?.role !== 'assistant',
  )
  return text.trim() === '' && !isAsked ? 'Write something first' : undefined
}
