import { expect, it } from 'vitest'
import type { WorkerMessage } from '../trainer/contract-wire.ts'
import { createOwnMessages } from './own-messages.ts'

const progress = (sequence: number, job_id = 'job'): WorkerMessage => ({
  kind: 'job_progress',
  job_id,
  sequence,
  phase: 'training',
  done: 0,
  total: 1,
})
const cancelled = (sequence: number): WorkerMessage => ({ kind: 'job_cancelled', job_id: 'job', sequence })
const saved = (sequence: number, directory: string): WorkerMessage => ({
  kind: 'checkpoint_saved',
  job_id: 'job',
  sequence,
  directory,
  metrics: {},
})

it.each<[string, WorkerMessage[], number[]]>([
  ['those of the attempt', [progress(1), progress(2), saved(3, 'own')], [0, 1, 2]],
  ['none of another job', [progress(1, 'other'), progress(1), progress(2, 'other'), progress(2)], [1, 3]],
  ['none of an earlier attempt', [progress(7), cancelled(8), progress(1), saved(2, 'own')], [2, 3]],
  [
    'none of an earlier attempt that ends',
    [progress(7), saved(8, 'earlier'), progress(1), saved(2, 'own')],
    [2, 3],
  ],
  ['no end of an earlier attempt that had not begun', [cancelled(1), progress(1), progress(2)], [1, 2]],
  [
    'those of an earlier attempt without an end, and then its own',
    [progress(1), progress(2), saved(3, 'earlier'), progress(1), progress(2), saved(3, 'own')],
    [0, 1, 3, 4, 5],
  ],
])('takes %s', (_what, messages, taken) => {
  const own = createOwnMessages({ job_id: 'job', output_dir: 'own' })
  expect(messages.filter((message) => own(message) !== undefined)).toEqual(
    taken.map((index) => messages[index]),
  )
})
