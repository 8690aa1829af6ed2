import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { factsOf } from '../../api/call-facts.ts'
import { readCall } from '../../api/calls.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { Id } from '../../components/copy-button.tsx'
import { pressKey } from '../../components/keys.ts'
import { Peek } from '../../components/peek.tsx'
import { Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'

interface CallPeekProps {
  name: ProjectName
  id: string
  onClose: () => void
  /** What is known of the call. */
  children: ReactNode
}

/** One call over the list that it comes from. */
export function CallPeek({ name, id, onClose, children }: CallPeekProps) {
  const project = projectId(name)
  const navigate = useNavigate()
  const { data, isError } = useQuery({
    queryKey: ['calls', project, 'one', id],
    queryFn: ({ signal }) => readCall(project, id, { signal }),
    placeholderData: keepPreviousData,
  })
  const facts = data == null ? undefined : factsOf(data)
  return (
    <Peek
      name="call"
      title={
        facts === undefined ? (
          data === undefined && !isError ? (
            <Skeleton className="h-4 w-40" />
          ) : (
            <>
              <h2 className="truncate text-sm font-strong text-strong">Call</h2>
              <Id id={id} />
            </>
          )
        ) : (
          <>
            <Status kind={facts.status} word={facts.statusWord} show="dot" />
            <h2 className="truncate text-sm font-strong text-strong">{facts.name}</h2>
            <Id id={id} />
          </>
        )
      }
      onClose={onClose}
      onMove={(by) => pressKey(by === 1 ? 'j' : 'k')}
      onExpand={() => void navigate({ to: '/$entity/$project/calls/$id', params: { ...name, id } })}
    >
      {children}
    </Peek>
  )
}
