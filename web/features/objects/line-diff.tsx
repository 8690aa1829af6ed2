import { useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { classNames } from '../../components/class-names.ts'
import { DiffText } from '../../components/diff-text.tsx'
import { formatCount } from '../../components/format.ts'
import { lineDiff } from '../../components/text-diff.ts'
import { foldedLines, type NumberedPair } from './folded-lines.ts'

interface LineDiffProps {
  /** What is compared. */
  title: string
  before: string
  after: string
}

/** Two texts side by side, what changed marked word by word, and long equal parts folded. */
export function LineDiff({ title, before, after }: LineDiffProps) {
  const folds = useMemo(() => foldedLines(lineDiff(before, after)), [before, after])
  const [isWhole, setWhole] = useState(false)
  const changed = folds.flatMap(({ lines }) => lines).filter(({ isSame }) => !isSame).length
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-1">
      <h2 className="flex items-center gap-2 text-xs text-muted">
        <span className="font-strong">{title}</span>
        <span className="tabular">
          {changed === 0
            ? 'the same'
            : changed === 1
              ? '1 line differs'
              : `${formatCount(changed)} lines differ`}
        </span>
        {folds.some(({ kind }) => kind === 'folded') && (
          <Button size="small" look="quiet" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Only what differs' : 'Everything'}
          </Button>
        )}
      </h2>
      <div className="overflow-hidden rounded-md border border-hair bg-inset font-mono text-xs">
        {folds.map(({ kind, lines }) =>
          kind === 'shown' || isWhole ? (
            lines.map((pair) => <Pair key={`${pair.beforeNumber} ${pair.afterNumber}`} pair={pair} />)
          ) : (
            <p
              key={`folded ${lines[0]?.beforeNumber}`}
              className="bg-panel px-3 py-1 font-sans text-2xs text-muted"
            >
              {lines.length === 1 ? '1 line is the same' : `${formatCount(lines.length)} lines are the same`}
            </p>
          ),
        )}
      </div>
    </section>
  )
}

/** On a phone one below the other, and equal lines once. */
function Pair({ pair: { before, after, beforeNumber, afterNumber, isSame } }: { pair: NumberedPair }) {
  return (
    <div className="grid grid-cols-2 max-md:grid-cols-1">
      <Line number={beforeNumber} look={isSame || before === undefined ? '' : 'bg-worse/10'}>
        {before}
      </Line>
      <Line
        number={afterNumber}
        look={classNames(
          'md:border-s md:border-hair',
          isSame && 'max-md:hidden',
          !isSame && after !== undefined && 'bg-better/10',
        )}
      >
        {isSame || before === undefined || after === undefined ? (
          after
        ) : (
          <DiffText before={before} after={after} />
        )}
      </Line>
    </div>
  )
}

interface LineProps {
  number: number | undefined
  look: string
  children: React.ReactNode
}

function Line({ number, look, children }: LineProps) {
  return (
    <div className={classNames('flex min-w-0 gap-2 px-1', number === undefined && 'max-md:hidden', look)}>
      <span className="tabular w-8 shrink-0 text-end text-muted select-none">{number}</span>
      <div className="min-w-0 flex-1 whitespace-pre-wrap wrap-anywhere">{children}</div>
    </div>
  )
}
