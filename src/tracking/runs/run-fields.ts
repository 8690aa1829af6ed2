import { connectionOf, limitOf, type PageArguments } from '../../accounts/graphql/connection.ts'
import type { Resolver } from '../../accounts/graphql/graphql-module.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { runFileId } from './run-file-id.ts'
import type { RunNode } from './run-node.ts'
import { metricsKeyOf } from './run-row.ts'
import { SAMPLES_DEFAULT, sampledHistory } from './sampled-history.ts'
import type { Runs } from './service.ts'

/** The fields of a run that are not in its row. */
export function runFields(runs: Runs): Record<string, Resolver> {
  const { metrics } = runs

  return {
    /** Wire: the newest line, from which a resumed run takes its next step and its clock. */
    historyTail: ({ row }: RunNode) => tailOf(metrics.lastLine(metricsKeyOf(row), 'history')),
    eventsTail: ({ row }: RunNode) => tailOf(metrics.lastLine(metricsKeyOf(row), 'system')),
    systemMetrics: async ({ row }: RunNode) => (await metrics.lastLine(metricsKeyOf(row), 'system')) ?? '{}',

    async historyKeys({ row }: RunNode) {
      const keys = await metrics.keys(metricsKeyOf(row), 'history')
      const counts = keys.map(({ key, count, numeric }) => {
        const type = numeric === 1 ? 'number' : 'unknown'
        return [key, { typeCounts: [{ type, count }] }]
      })
      return { lastStep: row.last_step, sets: [], keys: Object.fromEntries(counts) }
    },

    /** Wire: with steps, every line between them; without, some spread over the run. */
    history: ({ row }: RunNode, args: HistoryArguments) => {
      const limit = args.samples ?? SAMPLES_DEFAULT
      const stream = 'history' as const
      if (args.minStep == null && args.maxStep == null) {
        return metrics.sample(metricsKeyOf(row), { stream, keys: [], samples: limit })
      }
      const range = { stepFrom: stepOf(args.minStep, 0), stepBefore: stepOf(args.maxStep, row.last_step + 1) }
      return metrics.lines(metricsKeyOf(row), { stream, ...range, limit })
    },

    events: ({ row }: RunNode, args: { samples?: number | null }) =>
      metrics.sample(metricsKeyOf(row), {
        stream: 'system',
        keys: [],
        samples: args.samples ?? SAMPLES_DEFAULT,
      }),

    sampledHistory: ({ row }: RunNode, { specs }: { specs: string[] }) =>
      sampledHistory(metrics, metricsKeyOf(row), specs),

    /**
     * Wire: none is stored as Parquet; from the step here on clients read it by steps, and know that an export would
     * lack it.
     */
    async parquetHistory({ row }: RunNode) {
      const first = await metrics.firstStep(metricsKeyOf(row))
      return { parquetUrls: [], liveData: first === undefined ? [] : [{ _step: first }] }
    },

    async logLines({ row }: RunNode, args: PageArguments & { last?: number | null }) {
      const size = { first: args.last ?? args.first ?? null }
      const limit = limitOf(size)
      // A page has one line less than are asked for, of the last lines the newest.
      const from = args.last == null ? lineAfter(args.after) : Math.max(0, row.log_lines - limit + 1)
      const range = { lineFrom: from, lineBefore: row.log_lines, limit }
      const lines = await metrics.logLines(metricsKeyOf(row), range)
      return connectionOf(lines.map(logLine), size, (node) => String(node.number))
    },

    fileCount: ({ row }: RunNode) => runs.countFiles(row.id),

    async files({ row }: RunNode, args: FilesArguments, context: CallContext) {
      const names = (args.names ?? []).filter((name) => name !== null)
      const rows = await runs.pageOfFiles({
        run_id: row.id,
        names,
        pattern: args.pattern ?? undefined,
        after: args.after ?? '',
        limit: limitOf(args),
      })
      const nodes = await Promise.all(
        rows.map(async (file) => {
          const directUrl = await runs.downloadUrl(file, context)
          return {
            id: runFileId(file),
            name: file.name,
            displayName: file.name,
            url: directUrl,
            directUrl,
            sizeBytes: file.size,
            updatedAt: file.updated_at,
            md5: file.md5,
            digest: file.digest,
          }
        }),
      )
      return connectionOf(nodes, args, (node) => node.name)
    },
  }
}

interface HistoryArguments {
  minStep?: unknown
  maxStep?: unknown
  samples?: number | null
}

interface FilesArguments extends PageArguments {
  names?: (string | null)[] | null
  pattern?: string | null
}

async function tailOf(line: Promise<string | undefined>): Promise<string> {
  const text = await line
  return JSON.stringify(text === undefined ? [] : [text])
}

function stepOf(value: unknown, otherwise: number): number {
  const step = value == null ? otherwise : Number(value)
  if (!Number.isSafeInteger(step)) throw invalidRequest('A step is a whole number')
  return step
}

/** The line after that of a cursor; the first where there is none. */
function lineAfter(cursor: string | null | undefined): number {
  if (cursor == null || cursor === '') return 0
  // Of as many digits as a number holds exactly.
  if (!/^\d{1,15}$/.test(cursor)) throw invalidRequest('The cursor of a log is the number of a line', 'after')
  return Number(cursor) + 1
}

/** Wire: a line begins with its level and its time. */
function logLine({ line, text }: { line: number; text: string }) {
  const [, error, timestamp, rest] = /^(ERROR )?(\d{4}-\d\d-\d\dT[\d:.]+) (.*)$/s.exec(text) ?? []
  return {
    number: line,
    timestamp: timestamp === undefined ? null : `${timestamp}Z`,
    level: error === undefined ? '' : 'error',
    label: '',
    line: rest ?? text,
  }
}
