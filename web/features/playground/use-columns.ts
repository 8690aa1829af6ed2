import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import { notify } from '../../components/toast.ts'
import { modelsOf, newColumn, questionsOf, type Session } from './session.ts'

interface UseColumnsOptions {
  session: Session
  setSession: (change: (old: Session) => Session) => void
  /** Ends the answer of a column. */
  stop: (columnId: string) => void
}

/** Adds, removes and changes columns; their models are in the address. */
export interface ColumnChanges {
  setModel: (id: string, model: string) => void
  /** Adds a column with the last one's model and questions. */
  addColumn: () => void
  removeColumn: (id: string) => void
}

/** What it returns stays the same, so that columns are not drawn again. */
export function useColumns({ session, setSession, stop }: UseColumnsOptions): ColumnChanges {
  const navigate = useNavigate({ from: '/$entity/$project/playground' })
  const latest = useRef(session.columns)
  useEffect(() => {
    latest.current = session.columns
  })
  return useMemo(() => {
    const setColumns = (columns: Session['columns']) => {
      setSession((old) => ({ ...old, columns }))
      void navigate({ search: (old) => ({ ...old, models: modelsOf({ columns }) }) })
    }
    return {
      setModel(id, model) {
        setColumns(latest.current.map((column) => (column.id === id ? { ...column, model } : column)))
      },

      addColumn() {
        const last = latest.current.at(-1)
        setColumns([...latest.current, newColumn(last?.model ?? '', questionsOf(last?.messages ?? []))])
      },

      removeColumn(id) {
        const index = latest.current.findIndex((column) => column.id === id)
        const removed = latest.current.slice(index, index + 1)
        stop(id)
        setColumns(latest.current.filter((column) => column.id !== id))
        // Answers of the others may come in the meantime.
        notify({
          title: 'Column removed',
          undo: () => setColumns(latest.current.toSpliced(index, 0, ...removed)),
        })
      },
    }
  }, [setSession, stop, navigate])
}
