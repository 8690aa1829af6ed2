import { CalendarClock, ChevronDown } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { Menu } from '../../components/menu.tsx'
import type { ChangeSearch, TracesSearch } from './search.ts'
import { PRESETS, type TimeSpan } from './time-range.ts'

/** Which time is looked at, and whether calls within others are listed. */
export function RangeMenu({
  search,
  change,
  span,
}: {
  search: TracesSearch
  change: ChangeSearch
  span: TimeSpan
}) {
  return (
    <Menu
      trigger={
        <Button icon={<CalendarClock size={14} aria-hidden />} title={span.note}>
          {span.label}
          <ChevronDown size={14} className="text-muted" aria-hidden />
        </Button>
      }
      groups={[
        {
          label: span.note ?? 'Started in',
          entries: PRESETS.map(({ value, label }) => ({
            label,
            isChosen: span.label === label,
            onSelect: () => change({ range: value }),
          })),
        },
        {
          label: 'Show',
          entries: [
            {
              label: 'Whole traces',
              isChosen: search.calls === 'roots',
              onSelect: () => change({ calls: 'roots' }),
            },
            {
              label: 'Every call',
              isChosen: search.calls === 'all',
              onSelect: () => change({ calls: 'all' }),
            },
          ],
        },
      ]}
    />
  )
}
