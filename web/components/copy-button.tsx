import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './button.tsx'
import { notify } from './toast.ts'

const SHOWN_MS = 1200

/** Puts a text into the clipboard. @returns whether the browser allowed it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    notify({ title: 'The browser does not allow copying here' })
    return false
  }
}

/** Copies what it stands beside; `text` may be a function where it costs something to make. */
export function CopyButton({
  text,
  label = 'Copy',
  className,
}: {
  text: string | (() => string)
  label?: string
  className?: string
}) {
  const [isDone, setDone] = useState(false)
  return (
    <IconButton
      label={isDone ? 'Copied' : label}
      size="small"
      className={className}
      icon={isDone ? <Check size={13} /> : <Copy size={13} />}
      onClick={(event) => {
        event.stopPropagation()
        void copyText(typeof text === 'function' ? text() : text).then((ok) => {
          if (!ok) return
          setDone(true)
          setTimeout(() => setDone(false), SHOWN_MS)
        })
      }}
    />
  )
}

const ID_CHARS = 8

/** An id: its last characters, since those that rise with time begin alike; all of it on hover, a click copies it. */
export function Id({ id }: { id: string }) {
  const short = id.length > ID_CHARS + 2 ? `…${id.slice(-ID_CHARS)}` : id
  return (
    <button
      type="button"
      title={`${id}\nClick to copy`}
      aria-label={`Copy id ${id}`}
      className="shrink-0 rounded-sm px-1 font-mono text-xs whitespace-nowrap text-muted hover:bg-hover hover:text-strong"
      onClick={(event) => {
        event.stopPropagation()
        void copyText(id).then((ok) => ok && notify({ title: 'Id copied' }))
      }}
    >
      {short}
    </button>
  )
}
