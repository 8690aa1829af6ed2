import { setImmediate } from 'node:timers/promises'
import type { Projects } from '../../accounts/projects.ts'
import { notFound } from '../../errors.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import type { Redaction, Redactor } from '../../redaction/service.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { checkExpectedDigest, jsonDigest, tableDigest } from '../digest.ts'
import { DIGESTED_HERE_CHARS_MAX, digestOf } from '../digest-thread.ts'
import * as queries from './queries.ts'
import { applyUpdates, rowOf, type StoredRow } from './updates.ts'
import type * as wire from './wire.ts'

/** Characters of rows digested before other requests run: some 10 ms. */
const CHARS_PER_TURN = 128 * 1024

/** Characters of rows inserted at once: the encoded form of all of a large table would double its memory. */
const CHARS_PER_INSERT = 8 * 1024 * 1024

/** All writes of tables; the same table twice is one table. */
export interface TableWriter {
  create(req: wire.TableCreateReq): Promise<wire.TableCreateRes>
  /** Wire: rows are not checked to exist; clients send an empty list to find out whether this endpoint exists. */
  createFromDigests(req: wire.TableCreateFromDigestsReq): Promise<wire.TableCreateFromDigestsRes>
  update(req: wire.TableUpdateReq): Promise<wire.TableUpdateRes>
}

export interface TableWriterDeps {
  traces: TraceDb
  projects: Projects
  redaction: Pick<Redaction, 'of'>
}

export function createTableWriter({ traces, projects, redaction }: TableWriterDeps): TableWriter {
  /** Rows are written first: a visible table has all of its rows. */
  async function store(
    project_id: string,
    rowDigests: readonly string[],
    rows: readonly StoredRow[],
  ): Promise<string> {
    const digest = tableDigest(rowDigests)
    await projects.ensureById(project_id)
    const redactor = await redaction.of(project_id)
    for (const chunk of chunksOf(distinct(rows))) {
      const stored = redactor === undefined ? chunk : await redactedRows(chunk, redactor)
      await traces.insert(
        'table_rows',
        stored.map((row) => ({ project_id, ...row })),
      )
    }
    await traces.insert('tables', [{ project_id, digest, row_digests: rowDigests }])
    return digest
  }

  async function create({ table }: wire.TableCreateReq) {
    const rows = await digestedRows(table.rows)
    const rowDigests = rows.map((row) => row.digest)
    checkExpectedDigest(table.expected_digest, tableDigest(rowDigests))
    return { digest: await store(table.project_id, rowDigests, rows), row_digests: rowDigests }
  }

  async function createFromDigests(req: wire.TableCreateFromDigestsReq) {
    checkExpectedDigest(req.expected_digest, tableDigest(req.row_digests))
    return { digest: await store(req.project_id, req.row_digests, []) }
  }

  async function update(req: wire.TableUpdateReq) {
    const query = queries.selectRowDigests(req.project_id, req.base_digest)
    const base = await firstOf(traces.query<{ row_digests: string[] }>(query))
    if (base === undefined) throw notFound('Table', req.base_digest)
    const added = await digestedRows(req.updates.flatMap(rowOf))
    const { rowDigests, updated } = await applyUpdates(req.updates, { base: base.row_digests, added })
    return { digest: await store(req.project_id, rowDigests, added), updated_row_digests: updated }
  }

  return { create, createFromDigests, update }
}

/** Digests cost some microseconds each; a large table must not block other requests. */
async function digestedRows(rows: readonly JsonText[]): Promise<StoredRow[]> {
  const digested: StoredRow[] = []
  let charsLeft = CHARS_PER_TURN
  for (const { text } of rows) {
    const digest = text.length > DIGESTED_HERE_CHARS_MAX ? await digestOf(text) : jsonDigest(text)
    digested.push({ digest, val: text })
    // A digest of the shortest row takes as long as 256 characters of a long one.
    charsLeft -= text.length + 256
    if (charsLeft > 0) continue
    charsLeft = CHARS_PER_TURN
    await setImmediate()
  }
  return digested
}

/** Rows keep the digests of what was sent, which clients have in their refs. */
async function redactedRows(rows: readonly StoredRow[], redactor: Redactor): Promise<StoredRow[]> {
  const texts = await redactor.redact(rows.map(({ val }) => ({ form: 'json', text: val, document: 'row' })))
  return rows.map((row, index) => ({ ...row, val: texts[index] ?? row.val }))
}

function distinct(rows: readonly StoredRow[]): Iterable<StoredRow> {
  return new Map(rows.map((row) => [row.digest, row])).values()
}

function* chunksOf(rows: Iterable<StoredRow>): Generator<StoredRow[]> {
  let chunk: StoredRow[] = []
  let chars = 0
  for (const row of rows) {
    chunk.push(row)
    chars += row.val.length
    if (chars >= CHARS_PER_INSERT) {
      yield chunk
      chunk = []
      chars = 0
    }
  }
  if (chunk.length > 0) yield chunk
}
