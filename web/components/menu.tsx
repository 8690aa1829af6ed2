import { Suspense } from 'react'
import { useEarlyClick } from './early-click.ts'
import { lazyPart } from './lazy-part.ts'
import type { MenuProps } from './menu-popup.tsx'

const MenuPopup = lazyPart(async () => (await import('./menu-popup.tsx')).MenuPopup)

/**
 * What can be done, behind one button; groups are separated and may have a name. What opens is loaded once the page
 * stands: until then there is the button alone.
 */
export function Menu(props: MenuProps) {
  const { waiting, wasClicked } = useEarlyClick(props.trigger)
  return (
    <Suspense fallback={waiting}>
      <MenuPopup key={wasClicked ? 'clicked' : 'new'} {...props} startsOpen={wasClicked} />
    </Suspense>
  )
}
