import { exampleKey } from '../../api/key.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock, EmptyState } from '../../components/states.tsx'
import { conditionText } from './conditions.ts'
import type { ChangeSearch, TracesSearch } from './search.ts'
import type { Traces } from './use-traces.ts'

interface NoCallsProps {
  search: TracesSearch
  change: ChangeSearch
  project: string
  traces: Traces
}

/** Nothing yet, or nothing that matches: what to do about it. */
export function NoCalls({ search, change, project, traces }: NoCallsProps) {
  if (traces.isEmptyProject) return <NothingYet project={project} />
  const without = (index: number) => change({ filter: search.filter.filter((_, at) => at !== index) })
  return (
    <EmptyState
      title="No call matches"
      actions={
        <>
          {search.filter.map((condition, index) => (
            <Button key={conditionText(condition)} onClick={() => without(index)}>
              Drop “{conditionText(condition)}”
            </Button>
          ))}
          {search.text !== '' && (
            <Button onClick={() => change({ text: '' })}>Drop the search for “{search.text}”</Button>
          )}
          {traces.span.from !== undefined && (
            <Button onClick={() => change({ range: 'all' })}>Look at all time</Button>
          )}
          {search.calls === 'roots' && (
            <Button onClick={() => change({ calls: 'all' })}>Look at calls within others too</Button>
          )}
        </>
      }
    >
      <p>The project has calls, but none that started in this time and meets every condition.</p>
    </EmptyState>
  )
}

/** The exact lines that send a first call here. */
function NothingYet({ project }: { project: string }) {
  const { origin } = window.location
  const python = `import os
os.environ["WANDB_BASE_URL"] = "${origin}"
os.environ["WANDB_API_KEY"] = "${exampleKey()}"

import weave
weave.init("${project}")

@weave.op
def greet(name: str) -> str:
    return f"Hello {name}"

greet("world")`
  return (
    <EmptyState title="No calls yet">
      <p>Run this, and the call appears here by itself.</p>
      <CodeBlock label="lines" code={python} />
    </EmptyState>
  )
}
