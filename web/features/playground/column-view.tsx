import { Code, Copy, Ellipsis, SlidersHorizontal, Trash2, X } from 'lucide-react'
import { memo, useCallback } from 'react'
import type { ProjectName } from '../../api/project.ts'
import { IconButton } from '../../components/button.tsx'
import { copyText } from '../../components/copy-button.tsx'
import { Menu } from '../../components/menu.tsx'
import { messageOf } from '../../components/message-of.ts'
import { notify } from '../../components/toast.ts'
import { ModelPicker } from './model-picker.tsx'
import { curlOf, pythonOf } from './request-code.ts'
import type { Column, Message } from './session.ts'
import { requestOf, type Settings } from './settings.ts'
import { Transcript } from './transcript.tsx'

interface ColumnViewProps {
  project: ProjectName
  column: Column
  settings: Settings
  isRunning: boolean
  /** Its last answer is shown as a difference to this. */
  compared: string | undefined
  canRemove: boolean
  onModel: (columnId: string, model: string) => void
  onRemove: (columnId: string) => void
  onUpdate: (columnId: string, change: (column: Column) => Column) => void
  /** Asks for what follows these messages. */
  onRun: (columnId: string, messages: readonly Message[]) => void
  onStop: (columnId: string) => void
  onSettings: (columnId: string) => void
}

/** One model and what was said with it. */
export const ColumnView = memo(function ColumnView(props: ColumnViewProps) {
  const { column, settings, onUpdate, onRun, onStop } = props
  const { id, messages } = column
  const edit = useCallback(
    (index: number, content: string) =>
      onUpdate(id, (old) => ({
        ...old,
        messages: old.messages.map((message, at) => (at === index ? { ...message, content } : message)),
      })),
    [id, onUpdate],
  )
  const remove = useCallback(
    (index: number) => {
      const deleted = messages.slice(index, index + 1)
      if (deleted.some(isBeingWritten)) onStop(id)
      const insert = (old: Column) => ({ ...old, messages: old.messages.toSpliced(index, 0, ...deleted) })
      onUpdate(id, (old) => ({ ...old, messages: old.messages.toSpliced(index, 1) }))
      // An answer may come in the meantime.
      notify({ title: 'Message deleted', undo: () => onUpdate(id, insert) })
    },
    [id, messages, onStop, onUpdate],
  )
  const regenerate = useCallback(
    (index: number) => onRun(id, messages.slice(0, index)),
    [id, messages, onRun],
  )
  return (
    <section
      aria-label={`Column of ${column.model}`}
      className="flex min-h-0 min-w-72 flex-1 flex-col border-e border-hair last:border-e-0 max-md:min-w-full max-md:snap-start"
    >
      <header className="flex h-11 shrink-0 items-center gap-1 border-b border-hair ps-3 pe-2 coarse:h-13">
        <ModelPicker
          project={props.project}
          value={column.model}
          onChange={(model) => props.onModel(id, model)}
        />
        <ColumnMenu {...props} />
        {props.canRemove && (
          <IconButton
            size="small"
            label="Remove column"
            icon={<X size={14} />}
            onClick={() => props.onRemove(id)}
          />
        )}
      </header>
      <Transcript
        messages={messages}
        isRunning={props.isRunning}
        compared={props.compared}
        schema={settings.schema}
        onEdit={edit}
        onDelete={remove}
        onRegenerate={regenerate}
      />
    </section>
  )
})

function isBeingWritten({ answer }: Message): boolean {
  return answer !== undefined && answer.totalMs === undefined
}

function ColumnMenu({ project, column, settings, onUpdate, onStop, onSettings }: ColumnViewProps) {
  const { id, messages } = column
  const copy = (make: typeof curlOf) => {
    try {
      const lastAnswer = messages.findLastIndex(({ answer }) => answer !== undefined)
      const asked = lastAnswer < 0 ? messages : messages.slice(0, lastAnswer)
      const plain = asked.map(({ answer: _answer, ...message }) => message)
      const request = requestOf(column.model, settings, plain)
      void copyText(make(window.location.origin, { request, project }))
    } catch (error) {
      notify({ title: messageOf(error) })
    }
  }
  return (
    <Menu
      trigger={<IconButton size="small" label="More of this column" icon={<Ellipsis size={15} />} />}
      groups={[
        {
          entries: [
            {
              label: column.own === undefined ? 'Settings of its own' : 'Change its own settings',
              icon: <SlidersHorizontal size={14} />,
              onSelect: () => onSettings(id),
            },
            {
              label: 'Settings that all share',
              isDisabled: column.own === undefined,
              onSelect: () => onUpdate(id, ({ own: _own, ...shared }) => shared),
            },
          ],
        },
        {
          entries: [
            { label: 'Copy as Python', icon: <Code size={14} />, onSelect: () => copy(pythonOf) },
            { label: 'Copy as curl', icon: <Copy size={14} />, onSelect: () => copy(curlOf) },
          ],
        },
        {
          entries: [
            {
              label: 'Clear the conversation',
              icon: <Trash2 size={14} />,
              onSelect: () => {
                onStop(id)
                onUpdate(id, (old) => ({ ...old, messages: [] }))
                notify({
                  title: 'Conversation cleared',
                  undo: () => onUpdate(id, (old) => ({ ...old, messages: [...messages, ...old.messages] })),
                })
              },
            },
          ],
        },
      ]}
    />
  )
}
