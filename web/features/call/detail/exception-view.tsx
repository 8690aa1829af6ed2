import { useState } from 'react'
import { exceptionText } from '../../../api/exception-text.ts'
import { Button } from '../../../components/button.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'

/** Frames of installed libraries, which are seldom where the mistake is. */
const LIBRARY = /site-packages|dist-packages|lib\/python\d|node_modules|node:internal|<frozen /
const FRAME = /^\s*(File "|at )/

interface Frames {
  lines: string[]
  isLibrary: boolean
}

/** What went wrong first, then where; what happened inside libraries is folded. */
export function ExceptionView({ exception }: { exception: string }) {
  const { line, rest } = exceptionText(exception)
  const [isWhole, setWhole] = useState(false)
  const groups = framesOf(rest)
  const hasLibrary = groups.some(({ isLibrary }) => isLibrary)
  return (
    <section aria-label="Exception" className="rounded-md bg-error-soft p-3">
      <div className="flex items-start gap-2">
        <h3 className="flex-1 text-2xs leading-6 text-error">Exception</h3>
        {hasLibrary && (
          <Button size="small" look="quiet" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fold libraries' : 'Show libraries'}
          </Button>
        )}
        <CopyButton text={rest === '' ? line : `${rest}\n${line}`} label="Copy the exception" />
      </div>
      <p className="text-sm font-strong text-strong whitespace-pre-wrap wrap-anywhere">{line}</p>
      {rest !== '' && (
        <div className="mt-2 font-mono text-xs text-normal">
          {groups.map(({ lines, isLibrary }, index) =>
            isLibrary && !isWhole ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place
              <p key={index} className="text-muted">
                … {lines.filter((each) => FRAME.test(each)).length} in libraries
              </p>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a group is its place
              <pre key={index} className="whitespace-pre-wrap wrap-anywhere">
                {lines.join('\n')}
              </pre>
            ),
          )}
        </div>
      )}
    </section>
  )
}

/** Lines in groups of frames that are, or are not, of libraries; a frame takes the lines below it. */
function framesOf(stack: string): Frames[] {
  const groups: Frames[] = []
  for (const line of stack.split('\n')) {
    const last = groups.at(-1)
    const isLibrary = FRAME.test(line) ? LIBRARY.test(line) : (last?.isLibrary ?? false)
    if (last?.isLibrary === isLibrary) last.lines.push(line)
    else groups.push({ lines: [line], isLibrary })
  }
  return groups
}
