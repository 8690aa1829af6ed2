import type { Retention } from '../../api/retention.ts'

type RetainedKind = keyof Retention

/** The kinds of data, in the order shown. */
export const KINDS: readonly { kind: RetainedKind; label: string; about: string }[] = [
  {
    kind: 'payloads',
    label: 'Inputs and outputs',
    about: 'What calls were given and returned; their times, states and costs stay',
  },
  { kind: 'calls', label: 'Calls', about: 'Whole calls, with their feedback, since their start' },
  { kind: 'files', label: 'Files', about: 'Files of traces, since they were last sent' },
  {
    kind: 'trajectories',
    label: 'Training data',
    about: 'Trajectories and rows of training jobs, since the end of the job',
  },
  { kind: 'run_metrics', label: 'Metrics of runs', about: 'Values that runs logged' },
  { kind: 'run_logs', label: 'Logs of runs', about: 'Lines that programs of runs printed' },
]

/** What stands in the fields; empty for without end. */
export type Drafts = Record<RetainedKind, string>

const DAYS_MAX = 36_500

export function draftsOf(retention: Retention): Drafts {
  const text = (kind: RetainedKind) => String(retention[kind] ?? '')
  return {
    payloads: text('payloads'),
    calls: text('calls'),
    files: text('files'),
    trajectories: text('trajectories'),
    run_metrics: text('run_metrics'),
    run_logs: text('run_logs'),
  }
}

/** What the fields say; undefined where one of them is not a number of days. */
export function retentionIn(drafts: Drafts): Retention | undefined {
  const retention: Partial<Retention> = {}
  for (const { kind } of KINDS) {
    const text = drafts[kind]
    if (!/^\d*$/.test(text)) return undefined
    const days = text === '' ? null : Number(text)
    if (days !== null && (days < 1 || days > DAYS_MAX)) return undefined
    retention[kind] = days
  }
  // Every kind was set.
  return retention as Retention
}

/** Whether data is deleted that is kept now. */
export function isShorter(wanted: Retention, stored: Retention): boolean {
  const days = (retention: Retention, kind: RetainedKind) => retention[kind] ?? Number.POSITIVE_INFINITY
  return KINDS.some(({ kind }) => days(wanted, kind) < days(stored, kind))
}
