import { type ToOptions, useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'

/** The page of what a row shows. */
export type RowPage = ToOptions

/**
 * Around the name in a row: the browser opens its page elsewhere or copies its address. A plain click is one on the
 * row. Not a `Link`, of which each watches the address: a table has many, which come and go as it scrolls. Without a
 * box of its own it changes nothing in its cell, and the focus stays with the row that keys act on.
 */
export function RowLink({ page, children }: { page: RowPage; children: ReactNode }) {
  const router = useRouter()
  return (
    <a
      href={router.history.createHref(router.buildLocation(page).href)}
      tabIndex={-1}
      draggable={false}
      className="contents"
      onClick={(event) => {
        if (isPlain(event)) event.preventDefault()
        else event.stopPropagation()
      }}
    >
      {children}
    </a>
  )
}

function isPlain({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean {
  return !(ctrlKey || metaKey || shiftKey || altKey)
}
