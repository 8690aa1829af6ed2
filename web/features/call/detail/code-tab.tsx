import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Call } from '../../../api/calls.ts'
import { opCodeQuery, opVersionOf } from '../../../api/op-code.ts'
import type { WeaveRef } from '../../../api/weave-ref.ts'
import { Id } from '../../../components/copy-button.tsx'
import { CodeBlock, EmptyState, ErrorState, Skeleton } from '../../../components/states.tsx'

/** The source of the op in the version that ran. */
export function CodeTab({ call }: { call: Call }) {
  const op = opVersionOf(call.op_name)
  if (op === undefined)
    return (
      <EmptyState title="No code came with this call">
        <p>Weave's clients send the source of an op; a call that only has a name has none.</p>
      </EmptyState>
    )
  return <OpCode op={op} />
}

function OpCode({ op }: { op: WeaveRef }) {
  const { entity, project, name, version } = op
  const { data, error, refetch } = useQuery(opCodeQuery(op))
  return (
    <>
      <p className="flex items-center gap-2 text-xs">
        <Link
          to="/$entity/$project/objects/$name/versions/$version"
          params={{ entity, project, name, version }}
          className="text-link underline"
        >
          {name}
        </Link>
        <Id id={version} />
      </p>
      {error !== null ? (
        <ErrorState title="The code could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton className="h-40 w-full" />
      ) : data === null || data.trim() === '' ? (
        <EmptyState title="No code came with this op">
          <p>What comes by OpenTelemetry has a name, but no source.</p>
        </EmptyState>
      ) : (
        <CodeBlock code={data} label="the code" />
      )}
    </>
  )
}
