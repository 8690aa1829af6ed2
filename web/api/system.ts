import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { AnalysisModelsRes, HardwareRes, RouterModelsRes } from '../../src/inference/information/wire.ts'
import type { HealthRes } from '../../src/system/health/wire.ts'
import type { DiskRes, EngineLogPieceRes, EngineLogsRes } from '../../src/system/machine/wire.ts'
import type { ServerInfoRes } from '../../src/system/service-info/wire.ts'
import { ApiError, ask, askJson } from './client.ts'
import { credentials } from './key.ts'

export type Health = z.output<typeof HealthRes>
export type Router = z.output<typeof RouterModelsRes>
export type Analysis = z.output<typeof AnalysisModelsRes>
export type Hardware = z.output<typeof HardwareRes>

export type ServerInfo = z.output<typeof ServerInfoRes>
export type DiskUsage = z.output<typeof DiskRes>
export type EngineLogs = z.output<typeof EngineLogsRes>
export type EngineLogPiece = z.output<typeof EngineLogPieceRes>

/** The state of a machine is polled often. */
export const SYSTEM_LIVE_MS = 2_000

/** Wire: the segment in the middle is a vendor at the hosted service, and any word here. */
const ANY = 'heddle'

/** A failing server answers 503 with the same body, which is what the page shows. */
export const healthQuery = queryOptions({
  queryKey: ['system', 'health'],
  queryFn: async ({ signal }): Promise<Health> => {
    const response = await fetch('/health', { headers: credentials(), signal })
    if (response.status !== 503 && !response.ok)
      throw new ApiError(response.status, `The server answered ${response.status}`)
    return (await response.json()) as Health
  },
  refetchInterval: SYSTEM_LIVE_MS,
})

export const metricsTextQuery = queryOptions({
  queryKey: ['system', 'metrics'],
  queryFn: async ({ signal }) => await (await ask('/metrics', { signal })).text(),
  refetchInterval: SYSTEM_LIVE_MS,
})

/** Models, engines and free capacity. */
export const routerQuery = queryOptions({
  queryKey: ['system', 'router'],
  queryFn: ({ signal }) => askJson<Router>(`/inference/router/${ANY}/models`, { signal }),
  refetchInterval: SYSTEM_LIVE_MS,
})

export const analysisQuery = queryOptions({
  queryKey: ['system', 'analysis'],
  queryFn: ({ signal }) => askJson<Analysis>(`/inference/analysis/${ANY}/models`, { signal }),
  refetchInterval: SYSTEM_LIVE_MS,
})

export const hardwareQuery = queryOptions({
  queryKey: ['system', 'hardware'],
  queryFn: ({ signal }) => askJson<Hardware>(`/inference/${ANY}/v2/hardware`, { signal }),
  refetchInterval: 10_000,
})

/** Versions that clients ask for. */
export const versionsQuery = queryOptions({
  queryKey: ['system', 'versions'],
  queryFn: ({ signal }) => askJson<ServerInfo>('/server_info', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Disk usage of the data folder. */
export const diskQuery = queryOptions({
  queryKey: ['system', 'disk'],
  queryFn: ({ signal }) => askJson<DiskUsage>('/v1/preview/system/disk', { signal }),
  refetchInterval: 10_000,
})

/** Logs of the engines. */
export const engineLogsQuery = queryOptions({
  queryKey: ['system', 'logs'],
  queryFn: ({ signal }) => askJson<EngineLogs>('/v1/preview/system/logs', { signal }),
  refetchInterval: 10_000,
})

/** Whole lines of a log, from a byte offset, or its last ones. */
export function engineLogPiece(
  name: string,
  { from, signal }: { from?: number | undefined; signal?: AbortSignal },
): Promise<EngineLogPiece> {
  const query = from === undefined ? '' : `?from=${from}`
  return askJson(`/v1/preview/system/logs/${encodeURIComponent(name)}${query}`, { signal })
}

/** A whole log, piece after piece. */
export async function wholeEngineLog(name: string): Promise<Blob> {
  const texts: string[] = []
  let piece = await engineLogPiece(name, { from: 0 })
  while (piece.text !== '') {
    texts.push(piece.text)
    const next = await engineLogPiece(name, { from: piece.until })
    // A log that was rotated meanwhile would repeat itself.
    if (next.from !== piece.until) break
    piece = next
  }
  return new Blob(texts, { type: 'text/plain' })
}
