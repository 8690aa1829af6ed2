import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import { notify } from '../../components/toast.ts'
import { newColumn, questionsOf, type Session } from './session.ts'

interface UseColumnsOptions {
  session: Session
  setSession: (change: (old: Session) => Session) => void
  /** Ends the answer of a column. */
  stop: (columnId: string) => void
}

/** Adds, removes and changes columns; their models are in the address. What it returns stays the same. */
export function useColumns({ session, setSession, stop }: UseColumnsOptions) {
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const latest = useRef(session.columns)
  useEffect(() => {
    latest.current = session.columns
  })
  return useMemo(() => {
    const setColumns = (columns: Session['columns']) => {
      setSession((old) => ({ ...old, columns }))
      void navigate({ search: (old) => ({ ...old, models: columns.map(({ model }) => model) }) })
    }
    return {
      setModel(id: string, model: string) {
        setColumns(latest.current.map((column) => (column.id === id ? { ...column, model } : column)))
      },

      addColumn() {
        const last = latest.current.at(-1)
        setColumns([...latest.current, newColumn(last?.model ?? '', questionsOf(last?.messages ?? []))])
      },

      removeColumn(id: string) {
        const before = latest.current
        stop(id)
        setColumns(before.filter((column) => column.id !== id))
        notify({ title: 'Column removed', undo: () => setColumns(before) })
      },
    }
  }, [setSession, stop, navigate])
}
