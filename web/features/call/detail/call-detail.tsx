import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Call, readCall } from '../../../api/calls.ts'
import { mediaOf } from '../../../api/media.ts'
import { type ProjectName, projectId } from '../../../api/project.ts'
import { LIVE_MS } from '../../../api/query-client.ts'
import { JsonView } from '../../../components/json-view/json-view.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../../components/states.tsx'
import { type Tab, Tabs } from '../../../components/tabs.tsx'
import { Conversation } from '../conversation/conversation.tsx'
import { conversationOf } from '../conversation/messages.ts'
import { CallFactsList } from './call-facts-list.tsx'
import { CodeTab } from './code-tab.tsx'
import { CostTab } from './cost-tab.tsx'
import { ExceptionView } from './exception-view.tsx'
import { FeedbackBar } from './feedback-bar.tsx'
import { FeedbackTab } from './feedback-tab.tsx'
import { MediaView } from './media-view.tsx'
import { PayloadTab } from './payload-tab.tsx'
import type { DetailTab } from './tabs.ts'

interface CallDetailProps {
  name: ProjectName
  id: string
  tab: DetailTab
  onTab: (tab: DetailTab) => void
  /** Over the facts, for a page of its own. */
  header?: (call: Call | undefined) => ReactNode
}

/** One call with everything that belongs to it. */
export function useCall(project: string, id: string) {
  return useQuery({
    queryKey: ['calls', project, 'one', id],
    queryFn: ({ signal }) => readCall(project, id, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data != null && state.data.ended_at === null ? LIVE_MS : false),
  })
}

/** One call in full: its feedback, its payloads, its cost. */
export function CallDetail({ name, id, tab, onTab, header }: CallDetailProps) {
  const project = projectId(name)
  const { data, error, refetch, isPlaceholderData } = useCall(project, id)
  if (error !== null && data === undefined)
    return <ErrorState title="The call could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <section
      aria-label="Call"
      aria-busy={isPlaceholderData}
      className="flex min-h-0 flex-1 flex-col bg-panel"
    >
      {data !== null && header?.(data)}
      {data === null && (
        <EmptyState title="There is no such call">
          <p>
            It may have been deleted, or it is still on its way: the list shows it as soon as it is there.
          </p>
        </EmptyState>
      )}
      <div className="flex shrink-0 flex-col gap-2 px-3 pt-2 pb-1">
        {data === undefined && <Skeleton className="h-9 w-full" />}
        {data != null && <CallFactsList call={data} />}
        <FeedbackBar key={id} project={project} id={id} isGone={data === null} />
      </div>
      {data === undefined && (
        <div className="flex flex-col gap-3 p-3">
          <Skeleton className="h-6 w-2/3" />
          <Skeleton className="h-40 w-full" />
        </div>
      )}
      {data != null && <DetailTabs project={project} call={data} tab={tab} onTab={onTab} />}
    </section>
  )
}

type DetailTabsProps = Pick<CallDetailProps, 'tab' | 'onTab'> & { project: string; call: Call }

function DetailTabs({ project, call, tab, onTab }: DetailTabsProps) {
  const conversation = conversationOf(call)
  const tabs: Tab<DetailTab>[] = [
    {
      value: 'payload',
      label: 'Input and output',
      content: (
        <Padded call={call}>
          <PayloadTab project={project} call={call} />
        </Padded>
      ),
    },
    {
      value: 'attributes',
      label: 'Attributes',
      content: (
        <Padded>
          <AttributesTab call={call} />
        </Padded>
      ),
    },
    {
      value: 'feedback',
      label: 'Feedback',
      content: (
        <Padded>
          <FeedbackTab key={call.id} project={project} id={call.id} />
        </Padded>
      ),
    },
    {
      value: 'code',
      label: 'Code',
      content: (
        <Padded>
          <CodeTab call={call} />
        </Padded>
      ),
    },
    {
      value: 'cost',
      label: 'Cost',
      content: (
        <Padded>
          <CostTab call={call} />
        </Padded>
      ),
    },
    {
      value: 'raw',
      label: 'Raw',
      content: (
        <div className="flex h-full flex-col px-3 pb-3">
          <JsonView key={call.id} label="The whole call" value={{ ...call }} maxHeight="fill" />
        </div>
      ),
    },
  ]
  if (conversation !== undefined)
    tabs.unshift({
      value: 'chat',
      label: 'Chat',
      content: (
        <Padded call={call}>
          <Conversation
            key={call.id}
            {...conversation}
            media={(value) => {
              const media = mediaOf(value)
              return media === undefined ? (
                <JsonView label="Part" value={value} maxHeight={160} />
              ) : (
                <MediaView project={project} media={media} />
              )
            }}
          />
        </Padded>
      ),
    })
  const shown = tabs.some(({ value }) => value === tab) ? tab : (tabs[0]?.value ?? 'payload')
  return <Tabs label="Parts of the call" tabs={tabs} value={shown} onChange={onTab} className="flex-1" />
}

/** Errors come before everything else. */
function Padded({ call, children }: { call?: Call; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-3 p-3">
      {call !== undefined && call.exception !== null && call.exception !== '' && (
        <ExceptionView exception={call.exception} />
      )}
      {children}
    </div>
  )
}

function AttributesTab({ call }: { call: Call }) {
  return (
    <>
      <JsonView
        key={`attributes ${call.id}`}
        label="Attributes"
        value={call.attributes}
        root={['attributes']}
      />
      <JsonView key={`summary ${call.id}`} label="Summary" value={call.summary} root={['summary']} />
    </>
  )
}
