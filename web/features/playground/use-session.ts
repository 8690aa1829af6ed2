import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { readCall } from '../../api/calls.ts'
import { servedModelsQuery } from '../../api/completions.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { checkpointsQuery, modelsQuery } from '../../api/training.ts'
import { replayOf } from './replay.ts'
import type { PlaygroundSearch } from './search.ts'
import {
  type Column,
  loadSession,
  newColumn,
  newSession,
  type Session,
  saveSession,
  withModels,
} from './session.ts'

/** Writing a long conversation at every frame of a stream would take longer than drawing it. */
const SAVE_MS = 500

/** What the playground holds, and how it changes. */
export interface SessionState {
  session: Session
  setSession: SetSession
  update: (columnId: string, change: (column: Column) => Column) => void
  replay: Replay
}

/** The session of a project: kept over a reload, with its models in the address. */
export function useSession(project: ProjectName, search: PlaygroundSearch): SessionState {
  const id = projectId(project)
  const [session, setSession] = useState<Session>(() => {
    const kept = loadSession(id)
    if (kept === undefined) return newSession(search.models)
    return search.models.length > 0 ? withModels(kept, search.models) : kept
  })
  const update = useCallback(
    (columnId: string, change: (column: Column) => Column) =>
      setSession((old) => ({
        ...old,
        columns: old.columns.map((column) => (column.id === columnId ? change(column) : column)),
      })),
    [],
  )
  useSaved(id, session)
  // Going back and forth changes the address alone.
  const wanted = search.models.join('\n')
  useEffect(() => {
    if (wanted === '') return
    setSession((old) =>
      old.columns.map(({ model }) => model).join('\n') === wanted ? old : withModels(old, wanted.split('\n')),
    )
  }, [wanted])
  useFirstModel(project, setSession)
  const replay = useReplay(project, search.call, { session, setSession })
  return { session, setSession, update, replay }
}

/** Saves a session twice a second while it changes, and when the page is left. */
function useSaved(id: string, session: Session): void {
  const unsaved = useRef<Session>(undefined)
  const timer = useRef<number>(undefined)
  const save = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = undefined
    if (unsaved.current !== undefined) saveSession(id, unsaved.current)
    unsaved.current = undefined
  }, [id])
  useEffect(() => {
    unsaved.current = session
    timer.current ??= window.setTimeout(save, SAVE_MS)
  }, [save, session])
  useEffect(() => {
    window.addEventListener('pagehide', save)
    return () => {
      window.removeEventListener('pagehide', save)
      save()
    }
  }, [save])
}

type SetSession = (change: (old: Session) => Session) => void

/** A column that names no model gets the newest step of the project's newest model, or a base model. */
function useFirstModel(project: ProjectName, setSession: SetSession): void {
  const models = useQuery(modelsQuery(project))
  const served = useQuery(servedModelsQuery)
  const newest = models.data?.[0]
  const steps = useQuery({
    ...checkpointsQuery(newest?.id ?? '', { isLive: false }),
    enabled: newest !== undefined,
  })
  const step = steps.data?.at(-1)?.step
  const first =
    newest === undefined
      ? models.isPending
        ? undefined
        : served.data?.[0]
      : step === undefined
        ? undefined
        : `${newest.entity}/${newest.project}/${newest.name}:step${step}`
  useEffect(() => {
    if (first === undefined) return
    setSession((old) =>
      old.columns.every(({ model }) => model !== '')
        ? old
        : {
            ...old,
            columns: old.columns.map((column) =>
              column.model === '' ? { ...column, model: first } : column,
            ),
          },
    )
  }, [first, setSession])
}

/** A traced call that is taken over. */
export interface Replay {
  /** Why it could not be loaded. */
  error: Error | null
  /** It is gone, or it did not ask a chat model. */
  isImpossible: boolean
  isPending: boolean
}

/** Takes a traced call over, once. */
function useReplay(
  project: ProjectName,
  call: string,
  { session, setSession }: { session: Session; setSession: SetSession },
): Replay {
  const id = projectId(project)
  const isWanted = call !== '' && session.replayed?.call !== call
  const found = useQuery({
    queryKey: ['calls', id, 'one', call],
    queryFn: ({ signal }) => readCall(id, call, { signal }),
    enabled: isWanted,
  })
  const served = useQuery({ ...servedModelsQuery, enabled: call !== '' })
  const { data } = found
  const names = served.data
  useEffect(() => {
    if (!isWanted || data == null || names === undefined) return
    const replay = replayOf(data, project)
    if (replay === undefined) return
    const isServed = names.includes(replay.model.replace(/:[^:/]*$/, ''))
    const lost =
      isServed || replay.model === ''
        ? replay.lost
        : [`model ${replay.model}: not served here`, ...replay.lost]
    setSession(() => ({
      columns: [newColumn(isServed ? replay.model : '', replay.messages)],
      shared: replay.settings,
      replayed: { call, answer: replay.answer, lost },
    }))
  }, [isWanted, data, names, call, project, setSession])
  const isImpossible =
    isWanted && data !== undefined && (data === null || replayOf(data, project) === undefined)
  return {
    error: isWanted ? found.error : null,
    isImpossible,
    isPending: isWanted && !isImpossible && found.error === null,
  }
}
