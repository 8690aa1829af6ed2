import { Menu as Base } from '@base-ui/react/menu'
import { Check } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import type { Trigger } from './early-click.ts'
import { POPUP, POPUP_ITEM, POPUP_LABEL } from './popup-style.ts'

export interface MenuEntry {
  label: string
  icon?: ReactNode
  onSelect: () => void
  isDisabled?: boolean
  isDangerous?: boolean
  /** Shows a tick: the entry is one of several states. */
  isChosen?: boolean
}

export interface MenuGroup {
  label?: string
  entries: readonly MenuEntry[]
}

export interface MenuProps {
  /** The button that opens it. */
  trigger: Trigger
  groups: readonly MenuGroup[]
  side?: 'top' | 'bottom' | 'right'
}

/** The menu itself, which `menu.tsx` loads. */
export function MenuPopup({ trigger, groups, side, startsOpen }: MenuProps & { startsOpen: boolean }) {
  return (
    <Base.Root defaultOpen={startsOpen}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="start" side={side ?? 'bottom'} className="z-50">
          <Base.Popup className={classNames(POPUP, 'min-w-44')}>
            <MenuEntries groups={groups} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** What stands in a menu, whatever opened it. */
export function MenuEntries({ groups }: Pick<MenuProps, 'groups'>) {
  return groups.map((group, index) => (
    <Base.Group
      key={group.label ?? group.entries[0]?.label}
      className={classNames(index > 0 && 'mt-1 border-t border-hair pt-1')}
    >
      {group.label !== undefined && <Base.GroupLabel className={POPUP_LABEL}>{group.label}</Base.GroupLabel>}
      {group.entries.map((entry) => (
        <Base.Item
          key={entry.label}
          disabled={entry.isDisabled ?? false}
          onClick={entry.onSelect}
          className={classNames(POPUP_ITEM, entry.isDangerous && 'text-error')}
        >
          {entry.icon}
          <span className="flex-1 truncate">{entry.label}</span>
          {entry.isChosen && <Check size={14} aria-label="chosen" />}
        </Base.Item>
      ))}
    </Base.Group>
  ))
}
