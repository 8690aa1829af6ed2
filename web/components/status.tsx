import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export type StatusKind = 'ok' | 'error' | 'running' | 'abandoned' | 'pending'

const SHAPES: Record<StatusKind, string> = {
  ok: 'border-[1.5px] border-ok',
  error: 'bg-error',
  running: 'border-2 border-running animate-slow',
  abandoned: 'border-[1.5px] border-dashed border-warn',
  pending: 'border-[1.5px] border-dotted border-muted',
}

const WORDS: Record<StatusKind, string> = {
  ok: 'ok',
  error: 'error',
  running: 'running',
  abandoned: 'abandoned',
  pending: 'waiting',
}

const INKS: Record<StatusKind, string> = {
  ok: 'text-muted',
  error: 'text-error',
  running: 'text-running',
  abandoned: 'text-warn',
  pending: 'text-muted',
}

interface StatusProps {
  kind: StatusKind
  /** Instead of the usual word of its kind. */
  word?: string
  /** `dot` keeps the word for those who do not see; then everything but a silent "ok" has another shape. */
  show?: 'dot' | 'word'
}

/** How something stands: always a shape and a word, never a colour alone. */
export function Status({ kind, word, show = 'word' }: StatusProps) {
  const text = word ?? WORDS[kind]
  return (
    <span
      className={classNames('inline-flex items-center gap-1.5 text-xs', INKS[kind])}
      title={show === 'dot' ? text : undefined}
    >
      <span className={classNames('size-2 shrink-0 rounded-full', SHAPES[kind])} aria-hidden />
      <span className={classNames(show === 'dot' && 'sr-only')}>{text}</span>
    </span>
  )
}

type Tone = 'quiet' | 'accent' | 'warn' | 'error'

const TONES: Record<Tone, string> = {
  quiet: 'bg-inset text-muted',
  accent: 'bg-selected text-link',
  warn: 'bg-warn-soft text-warn',
  error: 'bg-error-soft text-error',
}

/** A short word about something. */
export function Badge({ children, tone = 'quiet' }: { children: ReactNode; tone?: Tone }) {
  return (
    <span
      className={classNames(
        'tabular inline-flex h-4.5 items-center rounded-sm px-1.5 text-2xs whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  )
}
