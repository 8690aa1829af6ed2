import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { MeRes } from '../../api/accounts.ts'
import { type Erasure, erasuresQuery } from '../../api/retention.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { PagedTable } from '../../components/data-table/paged-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { EmptyState } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { Section } from './parts/section.tsx'
import { ReceiptPeek } from './receipt-peek.tsx'

const route = getRouteApi('/settings')

const COLUMNS: readonly TableColumn<Erasure>[] = [
  timeColumn({ id: 'at', title: 'Asked for', at: ({ requested_at }) => requested_at }),
  {
    id: 'subject',
    title: 'Of',
    width: 260,
    grows: true,
    cell: ({ kind, subject }) => (
      <span className="truncate">
        <span className="text-muted">{kind === 'entity' ? 'team' : kind} </span>
        <span className="text-strong">{subject}</span>
      </span>
    ),
  },
  { id: 'state', title: 'State', width: 120, cell: ({ state }) => <State state={state} /> },
  { id: 'by', title: 'By', width: 140, cell: ({ requested_by }) => requested_by },
  timeColumn({ id: 'gone', title: 'Off the disk', at: ({ gone_at }) => gone_at }),
]

/** What was erased for good, and when. */
export function ErasuresTab({ me }: { me: MeRes }) {
  const { open } = route.useSearch()
  const navigate = route.useNavigate()
  const erasures = useInfiniteQuery(erasuresQuery)
  const show = (id: string) => void navigate({ search: (old) => ({ ...old, open: id }) })
  const opened = erasures.data?.find(({ id }) => id === open)
  return (
    <Section
      title="Receipts of erasures"
      about={
        me.is_operator
          ? 'Projects, teams and users that were erased on request: since when nobody could read them, and since when no file has them.'
          : 'What you asked to be erased: since when nobody could read it, and since when no file has it.'
      }
      content="table"
    >
      <PagedTable
        label="Receipts"
        memory="settings.Receipts"
        what="The receipts"
        empty={<EmptyState title="Nothing was erased yet" />}
        query={erasures}
        columns={COLUMNS}
        question=""
        openId={open}
        onOpen={({ id }) => show(id)}
        narrow={(erasure) => <NarrowReceipt erasure={erasure} />}
      />
      {opened !== undefined && <ReceiptPeek erasure={opened} onClose={() => show('')} />}
    </Section>
  )
}

function State({ state }: { state: Erasure['state'] }) {
  return state === 'done' ? <Status kind="ok" word="erased" /> : <Status kind="running" word="going on" />
}

function NarrowReceipt({ erasure }: { erasure: Erasure }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <span className="min-w-0 flex-1">
        <span className="block truncate text-strong">{erasure.subject}</span>
        <span className="block truncate text-xs text-muted">
          {erasure.kind === 'entity' ? 'team' : erasure.kind} · <Time iso={erasure.requested_at} />
        </span>
      </span>
      <State state={erasure.state} />
    </span>
  )
}
