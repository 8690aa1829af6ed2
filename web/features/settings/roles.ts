import type { Member } from '../../api/accounts.ts'

/** What users can be in a team. */
export const ROLES: readonly { value: Member['role']; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'member', label: 'Member: writes and trains' },
  { value: 'admin', label: 'Admin: manages' },
]
