import { z } from 'zod'

/** The contents of the data folder. */
export const DISK_PARTS = [
  'trace_db',
  'control_db',
  'checkpoints',
  'artifacts',
  'files',
  'engine',
  'logs',
  'other',
] as const

const DiskPart = z
  .object({
    name: z.enum(DISK_PARTS).meta({
      description:
        'artifacts: what no checkpoint has; files: payloads and trajectories; engine: the work of open jobs and copies that can be made again',
    }),
    bytes: z.number(),
  })
  .meta({ id: 'DiskPart' })

/** Measured at most every ten seconds. */
export const DiskRes = z
  .object({
    data_folder: z.string(),
    parts: z.array(DiskPart),
    volume: z.object({
      total_bytes: z.number(),
      free_bytes: z.number().meta({ description: 'What this server may still write' }),
    }),
    complete: z.boolean().meta({ description: 'False where there were more files than are looked at' }),
    measured_at: z.string(),
  })
  .meta({ id: 'DiskUsage' })

const EngineLog = z
  .object({ name: z.string(), size_bytes: z.int(), changed_at: z.string() })
  .meta({ id: 'EngineLog' })

/** The one that was written last comes first. */
export const EngineLogsRes = z.object({ logs: z.array(EngineLog) }).meta({ id: 'EngineLogs' })

export const EngineLogPath = z.object({ name: z.string() })

/** The shortest piece has room for a line: 500 characters and a time. */
const PIECE_BYTES_MIN = 4 * 1024

/** A piece is read at once. */
const PIECE_BYTES_MAX = 1024 * 1024

const FromByte = z
  .int()
  .min(0)
  .meta({ description: 'Such as the `until` of the piece before; without it the last piece is answered' })

export const EngineLogQuery = z.strictObject({
  from: FromByte.optional(),
  bytes_max: z
    .int()
    .min(PIECE_BYTES_MIN)
    .max(PIECE_BYTES_MAX)
    .default(256 * 1024),
})
export type EngineLogQuery = z.output<typeof EngineLogQuery>

/** Whole lines. A log that is shorter than `from` was rotated, and its last piece is returned. */
export const EngineLogPieceRes = z
  .object({
    name: z.string(),
    size_bytes: z.int(),
    from: z.int(),
    until: z.int().meta({ description: 'Where the next piece begins' }),
    text: z.string(),
  })
  .meta({ id: 'EngineLogPiece' })
