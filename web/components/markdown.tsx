import { CatchBoundary } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from './lazy-part.ts'
import { isLaidOut } from './markdown-limits.ts'

const MarkdownBody = lazyPart(async () => (await import('./markdown-body.tsx')).MarkdownBody)

/**
 * A text as Markdown; raw HTML in it stays text, and no picture is loaded. Until the parser is there it is plain, and
 * so it stays where to parse it would take too long, or fails.
 */
export function Markdown({ text }: { text: string }) {
  const plain = <p className="whitespace-pre-wrap wrap-anywhere">{text}</p>
  if (!isLaidOut(text)) return plain
  return (
    <CatchBoundary getResetKey={() => text} errorComponent={() => plain}>
      <Suspense fallback={plain}>
        <MarkdownBody text={text} />
      </Suspense>
    </CatchBoundary>
  )
}
