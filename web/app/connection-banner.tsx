import { onlineManager } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'

/** Over every page while the server does not answer. */
export function ConnectionBanner() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  )
  // Errors of single requests would repeat this message.
  useEffect(() => {
    document.documentElement.toggleAttribute('data-offline', !isOnline)
  }, [isOnline])
  if (isOnline) return null
  return (
    <div
      role="status"
      aria-label="Connection"
      className="flex min-h-8 shrink-0 items-center gap-2 bg-warn-soft px-4 py-1 text-xs text-warn"
    >
      <Unplug size={14} aria-hidden className="shrink-0" />
      <span>
        The server does not answer. This page shows what was loaded before; everything goes on by itself when
        it is back.
      </span>
    </div>
  )
}
