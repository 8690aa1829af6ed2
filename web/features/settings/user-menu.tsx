import { useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { changeUser, signInLink, type User } from '../../api/accounts.ts'
import { eraseUser } from '../../api/retention.ts'
import { IconButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { Menu } from '../../components/menu.tsx'
import { ConfirmByName } from './confirm-by-name.tsx'
import { useChange } from './parts/use-change.ts'
import type { MadeLink } from './shown-once.tsx'

type Asked = 'disable' | 'erase account' | 'erase data'

/** What an operator can do with another user. */
export function UserMenu({ user, onLink }: { user: User; onLink: (link: MadeLink) => void }) {
  const { name, kind, is_operator: isOperator } = user
  const isDisabled = user.disabled_at !== null
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked>()
  const renew = useChange(() => signInLink(name), {
    failed: 'No link was made',
    onDone: (url) => onLink({ user: name, url }),
  })
  const change = useChange(
    (changed: { is_operator?: boolean; disabled?: boolean }) => changeUser(name, changed),
    { failed: 'The user was not changed' },
  )
  const erase = useChange((what: 'with data' | 'account alone') => eraseUser(name, what), {
    failed: 'The erasure was not begun',
    changes: [['accounts'], ['projects']],
    onDone: ({ id }) => void navigate({ to: '/settings', search: { tab: 'erasures', open: id } }),
  })
  const close = () => setAsked(undefined)
  const ofPerson =
    kind === 'service'
      ? []
      : [
          { label: 'New sign-in link', isDisabled, onSelect: () => renew.mutate(undefined) },
          {
            label: isOperator ? 'Make no operator' : 'Make operator',
            onSelect: () => change.mutate({ is_operator: !isOperator }),
          },
        ]
  return (
    <>
      <Menu
        trigger={<IconButton size="small" label={`Change ${name}`} icon={<Ellipsis size={16} />} />}
        groups={[
          {
            entries: [
              ...ofPerson,
              isDisabled
                ? { label: 'Enable', onSelect: () => change.mutate({ disabled: false }) }
                : { label: 'Disable …', onSelect: () => setAsked('disable') },
            ],
          },
          {
            entries: [
              { label: 'Erase the account …', isDangerous: true, onSelect: () => setAsked('erase account') },
              {
                label: 'Erase the account and data …',
                isDangerous: true,
                onSelect: () => setAsked('erase data'),
              },
            ],
          },
        ]}
      />
      <ConfirmDialog
        title={`Disable ${name}?`}
        consequence="The keys of this user are refused and the sessions end at once. The user can be enabled again."
        action="Disable"
        isOpen={asked === 'disable'}
        onClose={close}
        onConfirm={() => change.mutate({ disabled: true })}
      />
      <ConfirmByName
        title={`Erase ${name}?`}
        name={name}
        consequence={
          asked === 'erase data'
            ? 'The account, its keys and its own projects are erased, and in all projects the calls, feedback and objects that this user wrote. This cannot be undone.'
            : 'The account and its keys are erased. What the user wrote stays, under a name that tells nothing. This cannot be undone.'
        }
        action="Erase"
        isOpen={asked === 'erase account' || asked === 'erase data'}
        onClose={close}
        onConfirm={() => erase.mutate(asked === 'erase data' ? 'with data' : 'account alone')}
      />
    </>
  )
}
