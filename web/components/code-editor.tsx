import { Suspense } from 'react'
import type { CodeAreaProps } from './code-area.tsx'
import { lazyPart } from './lazy-part.ts'
import { Skeleton } from './states.tsx'

const CodeArea = lazyPart(async () => (await import('./code-area.tsx')).CodeArea)

/** JSON that a person writes, with what is wrong of it underlined; the editor is loaded where it is seen. */
export function CodeEditor(props: CodeAreaProps) {
  return (
    <Suspense fallback={<Skeleton className="h-32 w-full rounded-md" />}>
      <CodeArea {...props} />
    </Suspense>
  )
}
