import type { Audit, Audited } from '../../accounts/audit/service.ts'
import { parseProjectId } from '../../accounts/project-name.ts'
import type { CallContext } from '../../http/caller.ts'
import { type Cutoff, RETAINED_KINDS, type Removal, type RetainedKind } from '../../removal.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { renameUserIn } from '../../stores/control-db/rename-user.ts'
import { dayBefore, nowIso } from '../../time.ts'
import { checkVersion, versionOf } from '../../wire/settings-version.ts'
import type { IfVersion } from '../../wire/settings-version-wire.ts'
import * as queries from './queries.ts'
import { Retention, type RetentionPath, type StoredRetention } from './wire.ts'

/** How long projects keep their data. */
export interface RetentionSettings {
  read(req: RetentionPath): Promise<StoredRetention>
  /** Sets all kinds; those that are left out are kept without end. @throws 409 for another version. */
  update(req: RetentionPath & Retention & IfVersion, context: CallContext): Promise<StoredRetention>
  /** Wire: the trace API knows whole calls alone. */
  callDays(projectId: string): Promise<number | null>
  setCallDays(projectId: string, days: number | null, context: CallContext): Promise<void>
  /**
   * From when on data of each kind is kept, for the projects that have such a setting. Cutoffs are whole days in UTC,
   * so that what they remove changes once a day.
   */
  cutoffs(): Promise<ReadonlyMap<RetainedKind, Cutoff[]>>
  /** Sets the one function that is called after a change. */
  onChange(changed: () => Promise<void>): void
  removal: Removal
}

export function createRetentionSettings(deps: { control: ControlDb; audit: Audit }): RetentionSettings {
  const { control, audit } = deps
  let changed = async (): Promise<void> => undefined

  async function of(projectId: string, db: ControlTx = control): Promise<Retention> {
    const rows = await queries.settingsOf(db, projectId)
    return Retention.parse(Object.fromEntries(rows.map(({ kind, days }) => [kind, days])))
  }

  async function stored(projectId: string): Promise<StoredRetention> {
    const retention = await of(projectId)
    return { ...retention, version: versionOf(retention) }
  }

  async function set(
    projectId: string,
    { if_version, ...days }: Partial<Record<RetainedKind, number | null>> & IfVersion,
    { caller }: CallContext,
  ): Promise<void> {
    const { entity } = parseProjectId(projectId)
    const stamp = { project_id: projectId, updated_by: caller.user, updated_at: nowIso() }
    await control.transaction().execute(async (tx) => {
      const before = await of(projectId, tx)
      checkVersion('The retention settings', before, { if_version })
      for (const kind of RETAINED_KINDS) {
        const wanted = days[kind]
        if (wanted === undefined || wanted === before[kind]) continue
        if (wanted === null) await queries.deleteSetting(tx, projectId, kind)
        else await queries.putSetting(tx, { ...stamp, kind, days: wanted })
      }
      const event: Audited = {
        action: 'retention.set',
        entity,
        subject: projectId,
        details: { before, set: days },
      }
      await audit.record(caller, event, tx)
    })
    await changed()
  }

  async function cutoffs(): Promise<ReadonlyMap<RetainedKind, Cutoff[]>> {
    const rows = await queries.allSettings(control)
    return new Map(RETAINED_KINDS.map((kind) => [kind, cutoffsOf(rows.filter((row) => row.kind === kind))]))
  }

  return {
    read: ({ entity, project }) => stored(`${entity}/${project}`),
    async update({ entity, project, ...days }, context) {
      const projectId = `${entity}/${project}`
      await set(projectId, days, context)
      return stored(projectId)
    },
    callDays: async (projectId) => (await of(projectId)).calls,
    setCallDays: (projectId, days, context) => set(projectId, { calls: days }, context),
    cutoffs,
    onChange(then) {
      changed = then
    },
    removal: {
      eraseProjects: (projectIds) => queries.deleteSettings(control, projectIds),
      renameUser: (user) => renameUserIn(control, { retention_settings: ['updated_by'] }, user),
    },
  }
}

/** Projects in one statement: its text has their names. */
const PROJECTS_MAX = 500

function cutoffsOf(rows: readonly queries.SettingRow[]): Cutoff[] {
  const cutoffs: Cutoff[] = []
  for (const [days, some] of Map.groupBy(rows, (row) => row.days)) {
    const before = dayBefore(days)
    const ids = some.map((row) => row.project_id)
    for (const some of slicesOf(ids, PROJECTS_MAX)) cutoffs.push({ projectIds: some, before })
  }
  return cutoffs
}
