import { useMemo } from 'react'
import { classNames } from './class-names.ts'
import { type DiffPart, wordDiff } from './text-diff.ts'

const LOOKS: Record<DiffPart['kind'], string> = {
  same: '',
  gone: 'bg-worse/25 text-strong line-through decoration-worse',
  new: 'bg-better/25 text-strong underline decoration-better underline-offset-2',
}

/** A text with what is other than in another one: struck through what is only there, underlined what is only here. */
export function DiffText({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => wordDiff(before, after), [before, after])
  return (
    <p className="whitespace-pre-wrap wrap-anywhere">
      {parts.map(({ kind, text }, index) => {
        const Part = kind === 'gone' ? 'del' : kind === 'new' ? 'ins' : 'span'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the text
          <Part key={index} className={classNames('rounded-sm no-underline', LOOKS[kind])}>
            {text}
          </Part>
        )
      })}
    </p>
  )
}
