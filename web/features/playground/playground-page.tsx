import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { useKeys } from '../../components/keys.ts'
import { Page } from '../../components/page.tsx'
import { Peek } from '../../components/peek.tsx'
import { ErrorLine, ErrorState } from '../../components/states.tsx'
import { ColumnView } from './column-view.tsx'
import { Composer } from './composer.tsx'
import { PlaygroundActions } from './playground-actions.tsx'
import { COLUMNS_MAX } from './search.ts'
import { lastAnswer, modelsOf, newSession, type Session, settingsOf, withSettings } from './session.ts'
import { countSettings } from './settings.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { useAnswers } from './use-answers.ts'
import { useColumns } from './use-columns.ts'
import { type Replay, useSession } from './use-session.ts'

const route = getRouteApi('/$entity/$project/playground')

/** Whose settings are open. */
type Opened = { column: string | undefined } | undefined

/** Talks to any step of any model, to several side by side, and to those that a traced call asked. */
export function PlaygroundPage() {
  const { entity, project: projectName } = route.useParams()
  const project = useMemo(() => ({ entity, project: projectName }), [entity, projectName])
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { session, setSession, replace, update, replay, models } = useSession(project, search)
  const { run, stop, running } = useAnswers(project, session, update)
  const [opened, setOpened] = useState<Opened>()
  const [isDiff, setDiff] = useState(false)
  const { columns, shared } = session

  const openColumn = useCallback((column: string) => setOpened({ column }), [])
  const toggleSettings = () => setOpened(opened === undefined ? { column: undefined } : undefined)
  const { setModel, addColumn, removeColumn } = useColumns({ session, setSession, stop })
  const send = (text: string) => {
    for (const { id, messages } of columns)
      void run(id, text.trim() === '' ? messages : [...messages, { role: 'user', content: text }])
  }
  const startAnew = () => {
    stop()
    replace({ ...newSession(modelsOf(session)), shared }, 'A new conversation')
    void navigate({ search: (old) => ({ ...old, call: '' }) })
  }
  useKeys('Columns', [
    { keys: 'd', does: 'Show differences between columns', run: () => setDiff(!isDiff) },
    { keys: 's', does: 'Settings', run: toggleSettings },
  ])
  const comparedWith = comparedAnswer(session)
  return (
    <Page
      title="Playground"
      tab={`Playground of ${projectName}`}
      actions={
        <PlaygroundActions
          isDiff={isDiff}
          canDiff={comparedWith !== undefined}
          onDiff={() => setDiff(!isDiff)}
          settingsCount={countSettings(shared)}
          onSettings={toggleSettings}
          onNew={startAnew}
          canAdd={columns.length < COLUMNS_MAX}
          onAdd={addColumn}
        />
      }
    >
      {models.error !== null && (
        <ErrorLine title="Models could not be loaded" error={models.error} onRetry={models.retry} />
      )}
      <ReplayNote session={session} replay={replay} entity={entity} project={projectName} />
      <div className="flex min-h-0 flex-1 overflow-x-auto max-md:snap-x">
        {columns.map((column, index) => (
          <ColumnView
            key={column.id}
            project={project}
            column={column}
            settings={settingsOf(session, column)}
            isRunning={running.has(column.id)}
            compared={isDiff && (index > 0 || session.replayed !== undefined) ? comparedWith : undefined}
            canRemove={columns.length > 1}
            onModel={setModel}
            onRemove={removeColumn}
            onUpdate={update}
            onRun={run}
            onStop={stop}
            onSettings={openColumn}
          />
        ))}
      </div>
      <Composer
        project={project}
        columns={columns}
        onSend={send}
        onStop={stop}
        isRunning={running.size > 0}
      />
      {opened !== undefined && (
        <OpenedSettings
          session={session}
          columnId={opened.column}
          onClose={() => setOpened(undefined)}
          setSession={setSession}
        />
      )}
    </Page>
  )
}

/** What answers are compared with: that of the replayed call, or the last one of the first of several columns. */
function comparedAnswer({ columns, replayed }: Session): string | undefined {
  return replayed?.answer ?? (columns.length > 1 ? lastAnswer(columns[0]?.messages) : undefined)
}

interface OpenedSettingsProps {
  session: Session
  columnId: string | undefined
  onClose: () => void
  setSession: (change: (old: Session) => Session) => void
}

function OpenedSettings({ session, columnId, onClose, setSession }: OpenedSettingsProps) {
  const column = session.columns.find(({ id }) => id === columnId)
  const settings = column === undefined ? session.shared : settingsOf(session, column)
  return (
    <Peek
      name="settings"
      title={
        <h2 className="text-sm font-strong text-strong">
          {column === undefined ? 'Settings of all columns' : 'Settings of this column'}
        </h2>
      }
      onClose={onClose}
    >
      <div className="thin-scroll min-h-0 flex-1 overflow-y-auto">
        <SettingsPanel
          key={columnId ?? 'shared'}
          settings={settings}
          onChange={(next) => setSession((old) => withSettings(old, columnId, next))}
        />
      </div>
    </Peek>
  )
}

interface ReplayNoteProps {
  session: Session
  replay: Replay
  entity: string
  project: string
}

/** The replayed call, its original answer, and parts that could not be taken over. */
function ReplayNote({ session: { replayed }, replay, entity, project }: ReplayNoteProps) {
  if (replay.error !== null) return <ErrorState title="The call could not be loaded" error={replay.error} />
  if (replay.isImpossible)
    return (
      <p role="status" className="bg-warn-soft px-4 py-2 text-xs text-warn">
        This call cannot be replayed: it is gone, or it asked in a way that the playground cannot repeat.
      </p>
    )
  if (replayed === undefined) return null
  return (
    <details className="shrink-0 border-b border-hair bg-inset px-4 py-1.5 text-xs text-muted">
      <summary className="cursor-pointer">
        Replay of a call{replayed.lost.length > 0 && `; not taken over: ${replayed.lost.join(', ')}`}
      </summary>
      <div className="flex flex-col gap-1 py-1">
        <Link
          to="/$entity/$project/calls/$id"
          params={{ entity, project, id: replayed.call }}
          className="text-link underline"
        >
          The call itself
        </Link>
        <p>Answered then:</p>
        <p className="thin-scroll max-h-40 overflow-y-auto whitespace-pre-wrap text-normal wrap-anywhere">
          {replayed.answer === '' ? 'nothing' : replayed.answer}
        </p>
      </div>
    </details>
  )
}
