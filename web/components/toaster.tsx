import { Toast as Base } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { useEffect } from 'react'
import { Button, IconButton } from './button.tsx'
import { startToasts, toasts } from './toast.ts'

/** Shows the messages of `notify`; once in the app. */
export function Toaster() {
  useEffect(startToasts, [])
  return (
    <Base.Provider toastManager={toasts} limit={3}>
      <Base.Portal>
        <Base.Viewport className="fixed right-4 bottom-4 z-80 flex w-[min(22rem,calc(100vw-32px))] flex-col gap-2">
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  )
}

function Toasts() {
  const { toasts: shown } = Base.useToastManager()
  return shown.map((toast) => (
    <Base.Root
      key={toast.id}
      toast={toast}
      className="raised-shade animate-rise rounded-lg bg-raised py-2 ps-3 pe-2"
    >
      <Base.Content className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <Base.Title className="text-sm text-strong" />
          <Base.Description className="text-xs wrap-break-word text-muted" />
        </div>
        {toast.actionProps !== undefined && <Base.Action render={<Button size="small" />} />}
        <Base.Close render={<IconButton label="Close" size="small" icon={<X size={14} />} />} />
      </Base.Content>
    </Base.Root>
  ))
}
