import { Menu as Base } from '@base-ui/react/menu'
import { MenuEntries, type MenuGroup } from '../menu-popup.tsx'
import { POPUP } from '../popup-style.ts'

interface CellMenuPopupProps {
  label: string
  anchor: HTMLElement
  groups: readonly MenuGroup[]
  onClose: () => void
}

/** The menu of one cell; closing it returns the focus to the row. */
export function CellMenuPopup({ label, anchor, groups, onClose }: CellMenuPopupProps) {
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} sideOffset={2} align="start" className="z-50">
          <Base.Popup
            aria-label={label}
            finalFocus={() => anchor.closest<HTMLElement>('[data-index]')}
            className={`${POPUP} max-w-88 min-w-44`}
          >
            <MenuEntries groups={groups} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
