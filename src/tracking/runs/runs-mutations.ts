import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import type { Resolver } from '../../accounts/graphql/graphql-module.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { objectText } from '../object-text.ts'
import { forkedFrom } from './client-record.ts'
import type { RunName, RunRow } from './queries.ts'
import { plainFile } from './run-file-id.ts'
import { runNode, writtenNode } from './run-node.ts'
import type { RunChange } from './run-writer.ts'
import type { Runs } from './service.ts'
import { refuseShared } from './shared-mode.ts'

/** The project of runs without one. Wire: the hosted service has the same name for it. */
export const DEFAULT_PROJECT = 'uncategorized'

/** Changes of runs that W&B clients make. */
export function runMutations(
  runs: Runs,
  removeOutputs: (runId: string) => Promise<void>,
): Record<string, Resolver> {
  return {
    /**
     * Wire: by name, with or without its id, a client starts, resumes or updates its run; by id alone, anyone changes a
     * run of the past.
     */
    async upsertBucket(_: unknown, { input }: { input: UpsertInput }, context: CallContext) {
      refuseShared(context)
      const { caller } = context
      const change = changeOf(input)
      if (input.id != null && input.name == null) {
        const row = await runs.change(plainId('Run', input.id), change)
        return upsertPayload({ row, inserted: false }, change)
      }
      const name = {
        entity: input.entityName ?? caller.defaultEntity,
        project: input.modelName ?? DEFAULT_PROJECT,
        run: input.name ?? newId().slice(-8),
      }
      refuseFork(name, change)
      return upsertPayload(await runs.start(name, change, caller.user), change)
    },

    async rewindRun(_: unknown, { input }: { input: RewindInput }, { caller }: CallContext) {
      const { metricName, metricValue } = input
      if (metricName !== '_step') throw invalidRequest(`A run is rewound to a _step, not a ${metricName}`)
      const name = {
        entity: input.entityName ?? caller.defaultEntity,
        project: input.projectName ?? DEFAULT_PROJECT,
        run: input.runName,
      }
      return { rewoundRun: runNode(await runs.rewind(name, metricValue)) }
    },

    async deleteRun(_: unknown, { input }: { input: { id: string; deleteArtifacts?: boolean | null } }) {
      const id = plainId('Run', input.id)
      if (input.deleteArtifacts) await removeOutputs(id)
      await runs.deleteById(id)
      return {}
    },

    async stopRun(_: unknown, { input }: { input: { id: string } }) {
      await runs.requestStop(plainId('Run', input.id))
      return { success: true }
    },

    /** Wire: a duration is in nanoseconds. */
    async notifyScriptableRunAlert(_: unknown, { input }: { input: AlertInput }) {
      const { entityName: entity, projectName: project, runName } = input
      const row = await runs.find({ entity, project, run: runName })
      if (row === undefined) throw notFound('run', `${entity}/${project}/${runName}`)
      const { title, text, severity, waitDuration } = input
      const waitMs = waitDuration == null ? undefined : Number(waitDuration) / 1e6
      await runs.alert(row, { title, text, severity: severity ?? 'INFO', waitMs })
      return { success: true }
    },

    async createRunFiles(_: unknown, { input }: { input: FilesInput }, context: CallContext) {
      const { entityName: entity, projectName: project, runName } = input
      const row = await runs.find({ entity, project, run: runName })
      if (row === undefined) throw notFound('run', `${entity}/${project}/${runName}`)
      const files = await runs.uploadUrls(row, input.files, context)
      return { runID: globalId('Run', row.id), uploadHeaders: [], files }
    },

    /** Wire: files that are gone already are no error, since clients repeat what had no reply. */
    async deleteFiles(_: unknown, { input }: { input: { files: string[] } }) {
      await runs.deleteFiles(input.files.map(plainFile))
      return { success: true }
    },
  }
}

/** @throws 400 for a run that another one's history would be a part of */
function refuseFork({ run }: RunName, { config }: RunChange): void {
  const from = config === undefined ? undefined : forkedFrom(run, config)
  if (from !== undefined)
    throw invalidRequest(`wandb.init(fork_from=…) is not supported: the history of ${from} is not copied`)
}

/** Wire: 0.22 reads the messages of every reply; there are none. */
function upsertPayload(written: { row: RunRow; inserted: boolean }, change: RunChange) {
  const serverSettings = { serverMessages: [] }
  return { bucket: writtenNode(written, change), inserted: written.inserted, serverSettings }
}

interface RewindInput {
  entityName?: string | null
  projectName?: string | null
  runName: string
  metricName: string
  metricValue: number
}

interface AlertInput {
  entityName: string
  projectName: string
  runName: string
  title: string
  text: string
  severity?: 'INFO' | 'WARN' | 'ERROR' | null
  waitDuration?: number | string | null
}

interface FilesInput {
  entityName: string
  projectName: string
  runName: string
  files: string[]
}

interface UpsertInput {
  id?: string | null
  name?: string | null
  modelName?: string | null
  entityName?: string | null
  displayName?: string | null
  description?: string | null
  notes?: string | null
  groupName?: string | null
  jobType?: string | null
  jobProgram?: string | null
  commit?: string | null
  host?: string | null
  config?: string | null
  summaryMetrics?: string | null
  tags?: string[] | null
  state?: string | null
}

/** Characters of what lists of runs show of each: notes, tags, names. */
const SHOWN_CHARS_MAX = 100_000

function checkShown({ config: _, summaryMetrics: __, ...shown }: UpsertInput): void {
  for (const [name, value] of Object.entries(shown))
    if (JSON.stringify(value ?? null).length > SHOWN_CHARS_MAX)
      throw invalidRequest(`The ${name} of a run has more than ${SHOWN_CHARS_MAX} characters`)
}

/** Wire: null members stay unchanged. @throws 400 for too long ones */
function changeOf(input: UpsertInput): RunChange {
  checkShown(input)
  return {
    ...(input.displayName != null && { display_name: input.displayName }),
    ...(input.description != null && { description: input.description }),
    ...(input.notes != null && { notes: input.notes }),
    ...(input.groupName != null && { group_name: input.groupName }),
    ...(input.jobType != null && { job_type: input.jobType }),
    ...(input.jobProgram != null && { program: input.jobProgram }),
    ...(input.commit != null && { commit_hash: input.commit }),
    ...(input.host != null && { host: input.host }),
    ...(input.config != null && { config: objectText('config of a run', input.config) }),
    ...(input.summaryMetrics != null && { summary: objectText('summary of a run', input.summaryMetrics) }),
    ...(input.tags != null && { tags: JSON.stringify(input.tags) }),
    ...(input.state != null && { state: startState(input.state) }),
  }
}

function startState(state: string): 'pending' | 'running' {
  if (state === 'pending' || state === 'running') return state
  throw invalidRequest(`A run starts as pending or running, not as ${state}`)
}
