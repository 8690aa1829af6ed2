import { Status, type StatusKind } from '../../components/status.tsx'

const KINDS: Record<string, StatusKind> = {
  running: 'running',
  finished: 'ok',
  failed: 'error',
  crashed: 'error',
  killed: 'abandoned',
  pending: 'pending',
}

/** The state of a run, in its client's word. */
export function RunState({ state }: { state: string }) {
  return <Status kind={KINDS[state] ?? 'pending'} word={state} />
}
