import { Download } from 'lucide-react'
import type { Erasure } from '../../api/retention.ts'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { formatBytes, formatCount } from '../../components/format.ts'
import { Peek } from '../../components/peek.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Time } from '../../components/time.tsx'
import { Facts } from './facts.tsx'

/** The receipt of one erasure. */
export function ReceiptPeek({ erasure, onClose }: { erasure: Erasure; onClose: () => void }) {
  const { id, subject, requested_by, requested_at, unreadable_at, erased_at, gone_at, amounts } = erasure
  const save = () =>
    saveFile(new Blob([JSON.stringify(erasure, null, 2)], { type: 'application/json' }), `erasure-${id}.json`)
  return (
    <Peek
      name="receipt"
      title={
        <>
          <h2 className="truncate text-sm font-strong text-strong">{subject}</h2>
          <Id id={id} />
        </>
      }
      onClose={onClose}
    >
      <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
        <Facts
          facts={[
            ['Asked for by', requested_by],
            ['Asked for', <Time key="requested" iso={requested_at} />],
            ['Unreadable since', <Step key="unreadable" at={unreadable_at} />],
            ['Last row deleted', <Step key="erased" at={erased_at} />],
            ['Off the disk since', <Step key="gone" at={gone_at} />],
          ]}
        />
        {amounts.length > 0 && (
          <table className="tabular text-xs" aria-label="What there was">
            <thead className="text-2xs text-muted">
              <tr className="h-7 border-b border-hair">
                <th className="text-start font-normal">What there was</th>
                <th className="ps-2 text-end font-normal">Number</th>
                <th className="ps-2 text-end font-normal">Size</th>
              </tr>
            </thead>
            <tbody>
              {amounts.map(({ kind, count, bytes }) => (
                <tr key={kind} className="h-7 border-b border-hair/60 text-end">
                  <th scope="row" className="text-start font-normal text-strong">
                    {kind.replaceAll('_', ' ')}
                  </th>
                  <td className="ps-2">{formatCount(count)}</td>
                  <td className="ps-2">{formatBytes(bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <Button icon={<Download size={14} aria-hidden />} className="self-start" onClick={save}>
          Save the receipt
        </Button>
      </div>
    </Peek>
  )
}

function Step({ at }: { at: string | null }) {
  return at === null ? <span className="text-muted">not yet</span> : <Time iso={at} />
}
