import { useState } from 'react'
import { exceptionText, framesText } from '../../../api/exception-text.ts'
import { Button } from '../../../components/button.tsx'
import { CopyButton } from '../../../components/copy-button.tsx'
import { StackFrames } from './stack-frames.tsx'
import { isLibrary, StackText } from './stack-text.tsx'

/** The error first, then where it was raised; frames of libraries are folded. */
export function ExceptionView({ exception }: { exception: string }) {
  const { line, rest, frames } = exceptionText(exception)
  const [isWhole, setWhole] = useState(false)
  const stack = frames.length > 0 ? framesText(frames) : rest
  const hasLibrary = stack.split('\n').some(isLibrary)
  return (
    <section aria-label="Exception" className="rounded-md bg-error-soft p-3">
      <div className="flex items-start gap-2">
        <h3 className="flex-1 text-2xs leading-6 text-error">Exception</h3>
        {hasLibrary && (
          <Button size="small" look="quiet" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fold libraries' : 'Show libraries'}
          </Button>
        )}
        <CopyButton text={stack === '' ? line : `${stack}\n${line}`} label="Copy the exception" />
      </div>
      <p className="text-sm font-strong text-strong whitespace-pre-wrap wrap-anywhere">{line}</p>
      {frames.length > 0 ? (
        <StackFrames key={exception} frames={frames} isWhole={isWhole} />
      ) : (
        rest !== '' && <StackText stack={rest} isWhole={isWhole} />
      )}
    </section>
  )
}
