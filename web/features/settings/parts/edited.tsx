import { Fragment, type ReactNode, useState } from 'react'
import { Button } from '../../../components/button.tsx'

interface EditedProps<Settings> {
  /** As they were loaded last. */
  stored: Settings
  /** @param onSaved takes what is stored after a change */
  children: (begun: Settings, onSaved: (saved: Settings) => void) => ReactNode
}

/** Keeps the settings that a form was opened with, so that its drafts stay when the stored settings change. */
export function Edited<Settings extends { version: string }>({ stored, children }: EditedProps<Settings>) {
  const [begun, setBegun] = useState(stored)
  // After its own change, the settings that were loaded last are the replaced ones until they are loaded again.
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
          These settings were changed after they were loaded, so this form cannot be saved.
          <Button size="small" onClick={() => setBegun(stored)}>
            Show what is stored
          </Button>
        </p>
      )}
      <Fragment key={begun.version}>{children(begun, onSaved)}</Fragment>
    </>
  )
}
