import { z } from 'zod/mini'

const TABS = [
  'keys',
  'members',
  'limits',
  'budgets',
  'providers',
  'teams',
  'users',
  'audit',
  'projects',
  'erasures',
] as const
export type SettingsTab = (typeof TABS)[number]

const text = z.catch(z._default(z.string(), ''), '')

export const settingsSearch = z.object({
  tab: z.catch(z._default(z.enum(TABS), 'keys'), 'keys'),
  /**
   * The team whose members, limits, budgets, providers or events are shown; that of the person, or the whole server,
   * where empty.
   */
  team: text,
  /** The service account whose keys are shown; the person where empty. */
  account: text,
  /** Which events are shown; all where empty. */
  action: text,
  actor: text,
  /** The event or receipt that is open. */
  open: text,
})

const PROJECT_TABS = ['redaction', 'retention', 'erasure'] as const
export type ProjectSettingsTab = (typeof PROJECT_TABS)[number]

export const projectSettingsSearch = z.object({
  tab: z.catch(z._default(z.enum(PROJECT_TABS), 'redaction'), 'redaction'),
})
