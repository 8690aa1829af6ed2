import { notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { slicesOf } from '../../slices.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { inBatches } from '../batches.ts'
import { collectReply, createReplyBudget } from '../collect-reply.ts'
import { type Page, pageOf } from '../query-language/page.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Rows whose sizes are asked for at once. */
const ROWS_PER_BATCH = 1000

/** What is in memory of a table while it streams, but for a single larger row. */
const PER_FETCH = { bytes: 16 * 1024 * 1024, count: ROWS_PER_BATCH }

/** Every way tables are read. */
export interface TableReader {
  /** Wire: an unknown table has no rows. */
  query(req: wire.TableQueryReq, context: CallContext): Promise<wire.TableQueryRes>
  queryStream(req: wire.TableQueryReq, context: CallContext): Promise<AsyncIterable<wire.TableRow>>
  /**
   * The values of some rows of a table, by their digests, without those that are not in it.
   * @throws 413 for too much
   */
  readRows(projectId: string, table: string, rowDigests: readonly string[]): Promise<Map<string, JsonText>>
  queryStats(req: wire.TableQueryStatsReq): Promise<wire.TableQueryStatsRes>
  /** Wire: unknown tables are left out. */
  queryStatsBatch(req: wire.TableQueryStatsBatchReq): Promise<wire.TableQueryStatsBatchRes>
}

export function createTableReader({ traces }: { traces: TraceDb }): TableReader {
  /** @param onPayload called with the number of characters of each value */
  async function valuesOf(
    projectId: string,
    rowDigests: readonly string[],
    onPayload: (chars: number) => void = () => undefined,
  ): Promise<Map<string, JsonText>> {
    const query = queries.selectValues(projectId, [...new Set(rowDigests)])
    const values = new Map<string, JsonText>()
    for await (const row of traces.query<queries.ValueRow>(query)) {
      onPayload(row.val.length)
      values.set(row.digest, new JsonText(row.val))
    }
    return values
  }

  /**
   * First the positions, then the values some hundred at a time. The positions are small and need no stream of their
   * own.
   */
  async function* rowsIn(
    req: wire.TableQueryReq,
    page: Page,
    signal: AbortSignal,
  ): AsyncGenerator<wire.TableRow> {
    const places = await rowsOf(traces.query<queries.Place>(queries.selectPlaces(req, page), signal))
    for (const batch of slicesOf(places, ROWS_PER_BATCH)) {
      const sizes = await sizesOf(req.project_id, digestsOf(batch))
      const sizeOf = ({ digest }: queries.Place) => ({ bytes: sizes.get(digest) ?? 0, count: 1 })
      for (const chunk of inBatches(batch, PER_FETCH, sizeOf)) {
        signal.throwIfAborted()
        const values = await valuesOf(req.project_id, digestsOf(chunk))
        for (const place of chunk) {
          const val = values.get(place.digest)
          if (val !== undefined) yield { ...place, val }
        }
      }
    }
  }

  async function sizesOf(projectId: string, rowDigests: readonly string[]): Promise<Map<string, number>> {
    const query = queries.selectRowSizes(projectId, rowDigests)
    const rows = await rowsOf(traces.query<{ digest: string; bytes: number }>(query))
    return new Map(rows.map(({ digest, bytes }) => [digest, bytes]))
  }

  async function query(req: wire.TableQueryReq, { signal }: CallContext) {
    return { rows: await collectReply(rowsIn(req, pageOf(req), signal), (row) => row.val.text.length) }
  }

  async function queryStream(req: wire.TableQueryReq, { signal }: CallContext) {
    return rowsIn(req, pageOf(req), signal)
  }

  async function readRows(
    projectId: string,
    table: string,
    rowDigests: readonly string[],
  ): Promise<Map<string, JsonText>> {
    const query = queries.selectMembers(projectId, table, rowDigests)
    const members = new Set((await firstOf(traces.query<{ members: string[] }>(query)))?.members)
    return valuesOf(projectId, [...members], createReplyBudget())
  }

  async function queryStats(req: wire.TableQueryStatsReq) {
    const query = queries.selectCounts(req.project_id, [req.digest])
    const stats = await firstOf(traces.query<{ count: number }>(query))
    if (stats === undefined) throw notFound('Table', req.digest)
    return { count: stats.count }
  }

  async function queryStatsBatch(req: wire.TableQueryStatsBatchReq) {
    const digests = req.digests ?? []
    const counts = traces.query<TableCount>(queries.selectCounts(req.project_id, digests))
    const sizes = req.include_storage_size
      ? await rowsOf(traces.query<TableSize>(queries.selectSizes(req.project_id, digests)))
      : undefined
    const bytes = new Map(sizes?.map((size) => [size.digest, size.bytes]))
    return {
      tables: (await rowsOf(counts)).map(({ digest, count }) => ({
        digest,
        count,
        storage_size_bytes: sizes === undefined ? null : (bytes.get(digest) ?? 0),
      })),
    }
  }

  return { query, queryStream, readRows, queryStats, queryStatsBatch }
}

function digestsOf(places: readonly queries.Place[]): string[] {
  return places.map(({ digest }) => digest)
}

interface TableCount {
  digest: string
  count: number
}

interface TableSize {
  digest: string
  bytes: number
}
