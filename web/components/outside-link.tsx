import type { ReactNode } from 'react'
import { leadsToPage } from './link-schemes.ts'

/** A link that traced content brings; what is no address of a page stays text. */
export function OutsideLink({ href, children }: { href: string | undefined; children?: ReactNode }) {
  if (href === undefined || !leadsToPage(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer" className="text-link underline">
      {children}
    </a>
  )
}
