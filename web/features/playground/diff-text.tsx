import { useMemo } from 'react'
import { classNames } from '../../components/class-names.ts'
import { type DiffPart, wordDiff } from './word-diff.ts'

const LOOKS: Record<DiffPart['kind'], string> = {
  same: '',
  gone: 'bg-worse/15 text-worse line-through',
  new: 'bg-better/15 text-better underline decoration-1 underline-offset-2',
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
