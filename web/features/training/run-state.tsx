import { Status, type StatusKind } from '../../components/status.tsx'

const KINDS: Record<string, StatusKind> = {
  running: 'running',
  finished: 'ok',
  failed: 'error',
  crashed: 'error',
  killed: 'abandoned',
  pending: 'pending',
}

/** How a run stands, in the word of its client. */
export function RunState({ state }: { state: string }) {
  return <Status kind={KINDS[state] ?? 'pending'} word={state} />
}
