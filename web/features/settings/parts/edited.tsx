import { Fragment, type ReactNode, useState } from 'react'
import { Button } from '../../../components/button.tsx'

interface EditedProps<Settings> {
  /** As they were loaded last. */
  stored: Settings
  /** @param onSaved takes what is stored after a change */
  children: (begun: Settings, onSaved: (saved: Settings) => void) => ReactNode
}

/** A form keeps the settings that it began with, so that what is typed stays when somebody else changes them meanwhile. */
export function Edited<Settings extends { version: string }>({ stored, children }: EditedProps<Settings>) {
  const [begun, setBegun] = useState(stored)
  // What this form has replaced itself may be what was loaded last for a moment.
  const [replaced, setReplaced] = useState(stored.version)
  const isForeign = stored.version !== begun.version && stored.version !== replaced
  const onSaved = (saved: Settings) => {
    setReplaced(stored.version)
    setBegun(saved)
  }
  return (
    <>
      {isForeign && (
        <p role="status" className="flex flex-wrap items-center gap-2 text-warn">
          Somebody else has changed this since it was loaded, so it cannot be saved.
          <Button size="small" onClick={() => setBegun(stored)}>
            Show what is stored
          </Button>
        </p>
      )}
      <Fragment key={begun.version}>{children(begun, onSaved)}</Fragment>
    </>
  )
}
