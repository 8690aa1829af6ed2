import { z } from 'zod/mini'

export const TABS = ['keys', 'members', 'users', 'audit'] as const
export type SettingsTab = (typeof TABS)[number]

export const settingsSearch = z.object({
  tab: z.catch(z._default(z.enum(TABS), 'keys'), 'keys'),
  /** The team whose members or events are shown; the first one where absent. */
  team: z.catch(z._default(z.string(), ''), ''),
})
