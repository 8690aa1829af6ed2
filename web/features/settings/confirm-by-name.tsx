import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Input } from '../../components/input.tsx'

interface ConfirmByNameProps {
  title: string
  /** What has to be typed. */
  name: string
  /** What is lost. */
  consequence: ReactNode
  action: string
  isOpen: boolean
  onClose: () => void
  onConfirm: () => void
}

/** Before what cannot be taken back and is large: its name has to be typed. */
export function ConfirmByName({ title, name, consequence, action, ...dialog }: ConfirmByNameProps) {
  const { isOpen, onClose, onConfirm } = dialog
  const [typed, setTyped] = useState('')
  const close = () => {
    setTyped('')
    onClose()
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          onConfirm()
          close()
        }}
      >
        <div className="flex flex-col gap-2 text-normal">{consequence}</div>
        <p className="text-muted">
          Type <code className="font-mono text-xs text-strong">{name}</code> to confirm:
        </p>
        <Input label={`Type ${name} to confirm`} value={typed} onValueChange={setTyped} />
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" look="danger" disabled={typed !== name}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
