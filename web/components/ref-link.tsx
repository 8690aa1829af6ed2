import { Link } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { parseRef, refLabel, type WeaveRef } from '../api/weave-ref.ts'

const CHIP =
  'inline-flex h-4.5 max-w-full items-center rounded-sm bg-selected px-1.5 align-middle font-sans text-xs text-link hover:underline'

/** What lies under the link, a row or a line, has a click of its own. */
const ownClick = (event: MouseEvent) => event.stopPropagation()

/** A ref as a chip that opens the page of what it names, in its own project. */
function RefLink({ target, text, tabIndex }: { target: WeaveRef; text: string; tabIndex: 0 | -1 }) {
  const { entity, project, kind, name, version, row } = target
  const shown = { className: CHIP, title: text, tabIndex, onClick: ownClick }
  const label = <span className="truncate">{refLabel(target)}</span>
  const names = { entity, project }
  if (kind === 'call')
    return (
      <Link to="/$entity/$project/calls/$id" params={{ ...names, id: name }} {...shown}>
        {label}
      </Link>
    )
  if (kind === 'table' || row !== '')
    return (
      <Link
        to="/$entity/$project/datasets"
        params={names}
        search={kind === 'table' ? { table: name, row } : { name, version, row }}
        {...shown}
      >
        {label}
      </Link>
    )
  return (
    <Link
      to="/$entity/$project/objects/$name/versions/$version"
      params={{ ...names, name, version }}
      {...shown}
    >
      {label}
    </Link>
  )
}

/** A text, as a link where it is a ref. @param tabIndex -1 where keys open it in another way */
export function TextOrRef({
  text,
  tabIndex = 0,
}: {
  text: string | undefined
  tabIndex?: 0 | -1
}): ReactNode {
  const target = parseRef(text)
  return target === undefined || text === undefined ? (
    text
  ) : (
    <RefLink target={target} text={text} tabIndex={tabIndex} />
  )
}
