import { Link } from '@tanstack/react-router'
import { Ellipsis, FlaskConical, MessagesSquare, Play } from 'lucide-react'
import { factsOf, isEvaluation } from '../../api/call-facts.ts'
import type { Call } from '../../api/calls.ts'
import { chatRequestOf } from '../../api/chat-request.ts'
import { encodedProject, type ProjectName, projectId } from '../../api/project.ts'
import { IconButton } from '../../components/button.tsx'
import { copyText, Id } from '../../components/copy-button.tsx'
import { Menu } from '../../components/menu.tsx'
import { Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { notify } from '../../components/toast.ts'
import { Tooltip } from '../../components/tooltip.tsx'

/** The call by its name, and where one can go from it. */
export function CallHeader({ name, call }: { name: ProjectName; call: Call | undefined }) {
  if (call === undefined)
    return (
      <header className="flex h-10 shrink-0 items-center px-3">
        <Skeleton className="h-4 w-48" />
      </header>
    )
  const { status, statusWord, name: shown } = factsOf(call)
  return (
    <header className="flex h-10 shrink-0 items-center gap-2 border-b border-hair ps-3 pe-2">
      <Status kind={status} word={statusWord} show="dot" />
      <h2 className="min-w-0 truncate text-sm font-strong text-strong" title={shown}>
        {shown}
      </h2>
      <Id id={call.id} />
      <span className="ms-auto flex items-center gap-1">
        {isEvaluation(call) && (
          <Link
            to="/$entity/$project/compare"
            params={name}
            search={{ runs: [call.id] }}
            className={`${ICON_LINK} w-auto! gap-1 px-2 text-sm text-link!`}
          >
            <FlaskConical size={14} aria-hidden />
            Results
          </Link>
        )}
        {call.thread_id !== null && call.thread_id !== '' && (
          <Tooltip text={`Thread ${call.thread_id}`}>
            <Link
              to="/$entity/$project/threads"
              params={name}
              search={{ thread: call.thread_id }}
              aria-label="Open the thread"
              className={ICON_LINK}
            >
              <MessagesSquare size={14} />
            </Link>
          </Tooltip>
        )}
        {chatRequestOf(call) !== undefined && (
          <Tooltip text="Open in the playground">
            <Link
              to="/$entity/$project/playground"
              params={name}
              search={{ call: call.id }}
              aria-label="Open in the playground"
              className={ICON_LINK}
            >
              <Play size={14} />
            </Link>
          </Tooltip>
        )}
        <Menu
          trigger={<IconButton label="Copy" icon={<Ellipsis size={16} />} />}
          groups={[
            {
              label: 'Copy',
              entries: copies(name, call).map(({ label, text }) => ({
                label,
                onSelect: () => void copy(label, text),
              })),
            },
          ]}
        />
      </span>
    </header>
  )
}

const ICON_LINK =
  'inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-strong coarse:size-11'

async function copy(label: string, text: string): Promise<void> {
  if (await copyText(text)) notify({ title: `${label} copied` })
}

function copies(name: ProjectName, { id, trace_id }: Call): { label: string; text: string }[] {
  const project = projectId(name)
  const body = JSON.stringify({ project_id: project, id })
  return [
    { label: 'Link', text: `${location.origin}/${encodedProject(project)}/calls/${id}` },
    { label: 'Id', text: id },
    { label: 'Id of the trace', text: trace_id },
    {
      label: 'curl',
      text: `curl ${location.origin}/call/read -H "Authorization: Bearer $WANDB_API_KEY" -H 'Content-Type: application/json' -d '${body}'`,
    },
    {
      label: 'Python',
      text: `import weave\n\ncall = weave.init("${project}").get_call("${id}")\nprint(call.inputs, call.output)`,
    },
  ]
}
