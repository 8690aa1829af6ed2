import { X } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type FeedbackItem, givenAgain } from '../../../api/feedback.ts'
import { useOwnName } from '../../../api/read-only.ts'
import { IconButton } from '../../../components/button.tsx'
import { lazyPart } from '../../../components/lazy-part.ts'

const ConfirmDialog = lazyPart(async () => (await import('../../../components/dialog.tsx')).ConfirmDialog)

interface RemoveFeedbackProps {
  item: FeedbackItem
  label: string
  onRemove: (item: FeedbackItem) => void
}

/** Removes feedback: at once what can be given again, after a question what cannot. */
export function RemoveFeedback({ item, label, onRemove }: RemoveFeedbackProps) {
  const own = useOwnName()
  const [isAsking, setAsking] = useState(false)
  const canUndo = givenAgain(item, own) !== undefined
  return (
    <>
      <IconButton
        label={label}
        size="small"
        icon={<X size={13} />}
        onClick={() => (canUndo ? onRemove(item) : setAsking(true))}
      />
      {isAsking && (
        <Suspense>
          <ConfirmDialog
            title="Remove this feedback?"
            isOpen
            consequence="Scores, annotations and what others wrote cannot be brought back."
            action="Remove"
            onConfirm={() => onRemove(item)}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      )}
    </>
  )
}
