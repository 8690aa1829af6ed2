import type { KeyCreateReq } from '../../api/accounts.ts'

/** What a key may do, within what its user may do. */
export const SCOPES: readonly { value: KeyCreateReq['scope']; label: string }[] = [
  { value: 'all', label: 'Everything' },
  { value: 'read', label: 'Read' },
  { value: 'ingest', label: 'Ingest' },
  { value: 'inference', label: 'Inference' },
]
