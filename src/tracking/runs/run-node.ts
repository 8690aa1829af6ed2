import { globalId } from '../../accounts/graphql/global-id.ts'
import { projectNode } from '../../accounts/graphql/project-node.ts'
import type { WithOpenFields } from '../../accounts/graphql/record-guard.ts'
import { textOf } from '../metrics/json-lines.ts'
import { clientRecordOf } from './client-record.ts'
import type { RunRow } from './queries.ts'
import { stateOf, tagsOf } from './run-row.ts'
import type { RunChange } from './run-writer.ts'

/** A run as GraphQL passes it from field to field: what the resolvers of its fields read. */
export interface RunNode {
  row: RunRow
}

/** A run with those of its fields that need no resolver. */
export function runNode(row: RunRow) {
  const project = projectNode({ entity: row.entity, name: row.project })
  return {
    row,
    project,
    id: globalId('Run', row.id),
    projectId: project.internalId,
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    notes: row.notes,
    tags: tagsOf(row),
    group: row.group_name,
    jobType: row.job_type,
    state: stateOf(row),
    stopped: row.stop_requested_at !== null,
    config: row.config,
    wandbConfig: ({ keys }: { keys?: string[] | null }) => wandbConfigOf(row, keys ?? []),
    summaryMetrics: row.summary,
    commit: row.commit_hash,
    host: row.host,
    readOnly: false,
    createdAt: row.created_at,
    heartbeatAt: row.heartbeat_at,
    user: { id: globalId('User', row.created_by), name: row.created_by, username: row.created_by },
    historyLineCount: row.history_lines,
    eventsLineCount: row.system_lines,
    logLineCount: row.log_lines,
  }
}

/** Wire: of what it sends, a client reads these in the reply. */
const FIELD_OF_COLUMN = { config: 'config', description: 'description', display_name: 'displayName' }

/** A run that this request has written: its caller may see what it wrote, also without the right to read. */
export function writtenNode({ row, inserted }: { row: RunRow; inserted: boolean }, change: RunChange) {
  const written = Object.entries(FIELD_OF_COLUMN).filter(([column]) => inserted || column in change)
  return { ...runNode(row), openFields: written.map(([, field]) => field) } satisfies WithOpenFields
}

function wandbConfigOf(row: RunRow, keys: readonly string[]): string {
  const known = Object.entries(clientRecordOf(row.config))
  const wanted = new Set(keys)
  return textOf(Object.fromEntries(known.filter(([key]) => wanted.has(key))))
}
