import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/states.tsx'

/** A sign-in link that was just made. */
export interface MadeLink {
  user: string
  url: string
}

interface ShownOnceProps {
  /** Such as `the key`. */
  what: string
  /** Whose it is. */
  name: string
  secret: string
  onDone: () => void
}

/** A secret that the server does not show again. */
export function ShownOnce({ what, name, secret, onDone }: ShownOnceProps) {
  return (
    <div role="status" className="flex max-w-2xl flex-col gap-2 rounded-lg border border-hair bg-panel p-3">
      <p className="text-normal">
        Copy {what} of <span className="font-strong text-strong">{name}</span> now: it is not shown again.
      </p>
      <CodeBlock code={secret} label={what} />
      <Button size="small" className="self-end" onClick={onDone}>
        Done
      </Button>
    </div>
  )
}
