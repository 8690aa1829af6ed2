import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { readCall } from '../../api/calls.ts'
import { isServedQuery, servedModelsQuery } from '../../api/completions.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { checkpointsQuery, modelsQuery } from '../../api/training.ts'
import { notify } from '../../components/toast.ts'
import { replayOf } from './replay.ts'
import type { PlaygroundSearch } from './search.ts'
import {
  type Column,
  loadSession,
  modelsOf,
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
  /** Opens another session; where something was said in this one, that can be undone. */
  replace: (next: Session, title: string) => void
  update: (columnId: string, change: (column: Column) => Column) => void
  replay: Replay
  models: LoadedModels
}

/** The session of a project: kept over a reload, with its models in the address. */
export function useSession(project: ProjectName, search: PlaygroundSearch): SessionState {
  const id = projectId(project)
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const [session, setSession] = useState<Session>(() => loadSession(id) ?? newSession(search.models))
  const latest = useRef(session)
  useEffect(() => {
    latest.current = session
  })
  const replace = useCallback(
    (next: Session, title: string) => {
      const before = latest.current
      setSession(() => next)
      if (before.columns.every(({ messages }) => messages.length === 0)) return
      const undo = () => {
        setSession(() => before)
        void navigate({ search: (old) => ({ ...old, models: modelsOf(before), call: '' }) })
      }
      notify({ title, undo })
    },
    [navigate],
  )
  const update = useCallback(
    (columnId: string, change: (column: Column) => Column) =>
      setSession((old) => ({
        ...old,
        columns: old.columns.map((column) => (column.id === columnId ? change(column) : column)),
      })),
    [],
  )
  useSaved(id, session)
  // Links, and going back and forth, change the address alone.
  const wanted = search.models.join('\n')
  useEffect(() => {
    const before = latest.current
    if (wanted === '' || modelsOf(before).join('\n') === wanted) return
    const next = withModels(before, wanted.split('\n'))
    setSession(() => next)
    const dropped = before.columns.slice(next.columns.length)
    if (dropped.every(({ messages }) => messages.length === 0)) return
    const undo = () => {
      const columns = [...latest.current.columns, ...dropped]
      setSession((old) => ({ ...old, columns: [...old.columns, ...dropped] }))
      void navigate({ search: (old) => ({ ...old, models: modelsOf({ columns }) }) })
    }
    notify({ title: dropped.length === 1 ? 'Column removed' : 'Columns removed', undo })
  }, [wanted, navigate])
  const models = useFirstModel(project, setSession)
  const replay = useReplay(project, search.call, { session, replace })
  return { session, setSession, replace, update, replay, models }
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

/** The models that may be chosen. */
interface LoadedModels {
  /** Why not all of them could be loaded. */
  error: Error | null
  retry: () => void
}

/** A column that names no model gets the newest step of the project's newest model, or a base model. */
function useFirstModel(project: ProjectName, setSession: SetSession): LoadedModels {
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
  const failed = [models, served].find(({ isLoadingError }) => isLoadingError)
  return { error: failed?.error ?? null, retry: () => void failed?.refetch() }
}

/** A traced call that is taken over. */
export interface Replay {
  /** Why it could not be loaded. */
  error: Error | null
  /** It is gone, or has no chat request. */
  isImpossible: boolean
  isPending: boolean
}

/** Takes a traced call over, once. */
function useReplay(
  project: ProjectName,
  call: string,
  { session, replace }: Pick<SessionState, 'session' | 'replace'>,
): Replay {
  const id = projectId(project)
  // Where that is undone, the address still names the call for a moment.
  const [taken, setTaken] = useState('')
  const isWanted = call !== '' && session.replayed?.call !== call && taken !== call
  const found = useQuery({
    queryKey: ['calls', id, 'one', call],
    queryFn: ({ signal }) => readCall(id, call, { signal }),
    enabled: isWanted,
  })
  const { data } = found
  const replay = useMemo(() => (data == null ? undefined : replayOf(data, project)), [data, project])
  const model = replay?.model ?? ''
  const served = useQuery({ ...isServedQuery(model), enabled: isWanted && model !== '' })
  const isServed = model === '' ? false : served.data
  useEffect(() => {
    if (!isWanted || replay === undefined || isServed === undefined) return
    setTaken(call)
    const lost =
      isServed || replay.model === ''
        ? replay.lost
        : [`model ${replay.model}: not served here`, ...replay.lost]
    replace(
      {
        columns: [newColumn(isServed ? replay.model : '', replay.messages)],
        shared: replay.settings,
        replayed: { call, answer: replay.answer, lost },
      },
      'The conversation was replaced by that of the call',
    )
  }, [isWanted, replay, isServed, call, replace])
  const isImpossible = isWanted && data !== undefined && replay === undefined
  const error = found.error ?? served.error
  return {
    error: isWanted ? error : null,
    isImpossible,
    isPending: isWanted && !isImpossible && error === null,
  }
}
