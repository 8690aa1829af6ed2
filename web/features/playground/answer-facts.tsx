import { formatCount, formatDuration, formatNumber } from '../../components/format.ts'
import type { Answer } from './session.ts'

/** Facts about an answer: speed, tokens, why it ended, and its step. */
export function AnswerFacts({ answer, isRunning }: { answer: Answer; isRunning: boolean }) {
  const { finish, firstMs, totalMs, usage, step, seed, error } = answer
  if (error !== undefined)
    return (
      <p role="alert" className="rounded-md bg-error-soft px-2 py-1 text-xs text-error wrap-anywhere">
        {error}
      </p>
    )
  const speed = speedOf(answer)
  return (
    <p className="tabular flex min-h-4 flex-wrap gap-x-3 text-2xs text-muted">
      {isRunning && <span className="text-running">answering</span>}
      {firstMs !== undefined && <span title="Until the first token">first {formatDuration(firstMs)}</span>}
      {!isRunning && totalMs !== undefined && (
        <span title="Until the last token">{formatDuration(totalMs)}</span>
      )}
      {speed !== undefined && <span>{formatNumber(speed)} tokens/s</span>}
      {usage !== undefined && (
        <span title="Tokens read and written">
          {formatCount(usage.prompt_tokens)} in, {formatCount(usage.completion_tokens)} out
        </span>
      )}
      {step !== undefined && <span>step {step}</span>}
      {seed !== undefined && <span>seed {seed}</span>}
      {finish !== undefined && (
        <span className={finish === 'length' ? 'text-warn' : undefined}>
          {finish === 'length' ? 'cut off by max_tokens' : finish}
        </span>
      )}
    </p>
  )
}

/** Over less time a speed would be that of the clock. */
const SPEED_MS_MIN = 20

/** Tokens a second from the first to the last; the first has only waited. */
function speedOf({ usage, firstMs, totalMs }: Answer): number | undefined {
  const tokens = (usage?.completion_tokens ?? 0) - 1
  if (firstMs === undefined || totalMs === undefined || tokens < 1) return undefined
  const ms = totalMs - firstMs
  return ms < SPEED_MS_MIN ? undefined : tokens / (ms / 1000)
}
