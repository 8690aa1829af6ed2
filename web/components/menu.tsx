import { lazy, Suspense } from 'react'
import type { MenuProps } from './menu-popup.tsx'

const MenuPopup = lazy(async () => ({ default: (await import('./menu-popup.tsx')).MenuPopup }))

/**
 * What can be done, behind one button; groups are separated and may have a name. What opens is loaded once the page
 * stands: until then there is the button alone.
 */
export function Menu(props: MenuProps) {
  return (
    <Suspense fallback={props.trigger}>
      <MenuPopup {...props} />
    </Suspense>
  )
}
