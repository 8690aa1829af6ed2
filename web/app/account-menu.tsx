import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { meQuery } from '../api/accounts.ts'
import { isSignedIn } from '../api/key.ts'
import { IconButton } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import { leave } from '../features/settings/leave.ts'

/** Who is signed in, and the way out; nothing where any key is accepted. */
export function AccountMenu({ isCollapsed }: { isCollapsed: boolean }) {
  const { data: me } = useQuery({ ...meQuery, enabled: isSignedIn() })
  const navigate = useNavigate()
  if (!isSignedIn()) return null
  const name = me?.user ?? ''
  const label = `Account: ${name}`
  return (
    <div className="flex shrink-0 border-t border-hair px-2 pt-2 max-md:hidden">
      <Menu
        side="top"
        trigger={
          isCollapsed ? (
            <IconButton label={label} icon={<CircleUser size={16} />} />
          ) : (
            <button
              type="button"
              aria-label={label}
              className="flex h-7 min-w-0 flex-1 items-center gap-2.5 rounded-md px-2 text-start text-muted hover:bg-hover hover:text-strong coarse:h-11"
            >
              <CircleUser size={16} strokeWidth={1.75} aria-hidden className="shrink-0" />
              <span className="truncate">{name}</span>
              {me?.is_operator && <span className="ms-auto text-2xs text-muted">operator</span>}
            </button>
          )
        }
        groups={[
          {
            label: me === undefined ? name : `${name}, ${me.is_operator ? 'operator' : 'user'}`,
            entries: [
              {
                label: 'Keys and teams',
                onSelect: () => void navigate({ to: '/settings' }),
              },
              { label: 'Sign out', onSelect: leave },
            ],
          },
        ]}
      />
    </div>
  )
}
