import { Toast } from '@base-ui/react/toast'

/** How long an act can be undone, in milliseconds. */
const UNDO_MS = 10_000
const NOTE_MS = 5_000

/** What the toaster shows. */
export const toasts = Toast.createToastManager()

interface Notice {
  title: string
  detail?: string
  /** Offers to take back what was just done. */
  undo?: () => void
}

/** Messages before the toaster was loaded; undefined from then on. */
let waiting: Notice[] | undefined = []

/** The toaster is loaded: it shows the messages so far, and all later ones. */
export function startToasts(): void {
  const told = waiting ?? []
  waiting = undefined
  for (const notice of told) show(notice)
}

/** Shows a message, from anywhere. */
export function notify(notice: Notice): void {
  if (waiting === undefined) show(notice)
  else waiting.push(notice)
}

function show({ title, detail, undo }: Notice): void {
  const id = toasts.add({
    title,
    timeout: undo === undefined ? NOTE_MS : UNDO_MS,
    ...(detail !== undefined && { description: detail }),
    ...(undo !== undefined && {
      actionProps: {
        children: 'Undo',
        onClick: () => {
          undo()
          toasts.close(id)
        },
      },
    }),
  })
}
