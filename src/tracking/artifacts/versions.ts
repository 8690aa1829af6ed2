import { z } from 'zod'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { parseLine } from '../metrics/json-lines.ts'
import { listAliases, newestAmong } from './alias-queries.ts'
import { LATEST } from './names.ts'
import { type FileRow, listFiles, type VersionRow } from './queries.ts'

/** One file of a version; its bytes are a content. */
export interface ArtifactFile {
  name: string
  /** SHA-256, hexadecimal. */
  digest: string
  /** Base64. */
  md5: string
  size: number
}

/** A committed version as the rest of the server uses it. */
export interface ArtifactVersion {
  id: string
  entity: string
  project: string
  name: string
  type: string
  version: number
  /** Includes `latest` where it applies. */
  aliases: string[]
  metadata: Record<string, unknown>
  files: ArtifactFile[]
  created_by: string
}

/** Rows as versions, in the order of the rows. */
export async function loadVersions(db: ControlTx, rows: readonly VersionRow[]): Promise<ArtifactVersion[]> {
  const ids = rows.map((row) => row.id)
  const aliases = await loadAliases(db, ids)
  const files = Map.groupBy(ids.length === 0 ? [] : await listFiles(db, ids), (file) => file.artifact_id)
  return rows.map((row) => ({
    id: row.id,
    entity: row.entity,
    project: row.project,
    name: row.name,
    type: row.type,
    version: row.version ?? 0,
    aliases: aliases.get(row.id) ?? [],
    metadata: metadataOf(row),
    files: (files.get(row.id) ?? []).flatMap(uploaded),
    created_by: row.created_by,
  }))
}

/** The aliases of versions in their sequences, with `latest` first where it applies. */
export async function loadAliases(db: ControlTx, ids: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(ids.map((id) => [id, []]))
  if (ids.length === 0) return found
  for (const id of await newestAmong(db, ids)) found.get(id)?.push(LATEST)
  for (const { artifact_id, alias } of await listAliases(db, ids)) found.get(artifact_id)?.push(alias)
  return found
}

export function metadataOf(row: Pick<VersionRow, 'metadata'>): Record<string, unknown> {
  return parseLine(row.metadata) ?? {}
}

/** The tags of a version or a collection. */
export function tagsOf(row: { tags: string }): string[] {
  return z.array(z.string()).parse(JSON.parse(row.tags))
}

/** A file without bytes was announced and never uploaded, or is a reference. */
function uploaded({ name, digest, md5, size }: FileRow): ArtifactFile[] {
  return digest === null ? [] : [{ name, digest, md5, size }]
}
