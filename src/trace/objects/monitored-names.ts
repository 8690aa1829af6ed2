import { isRecord } from '../../json/is-record.ts'
import { refOf } from '../ref-uri.ts'
import { MONITOR_CLASS } from './object-class.ts'
import type { VersionRow } from './queries.ts'
import { isLive, keyOf, type VersionName, type VersionReading } from './versions.ts'

/** Versions that are read for the monitors of one project; a judge, its model and its prompt are three. */
const VERSIONS_MAX = 1_000

/**
 * Whether a version that is published under a name may change what a monitor of the project does: the name is that of a
 * monitor, or one of its scorers, or what a scorer leads to, is named so without a digest. Where monitors lead to more
 * than a thousand versions, every name counts.
 */
export type IsMonitored = (projectId: string, objectId: string) => Promise<boolean>

export function createIsMonitored(
  reading: Pick<VersionReading, 'lastPublished' | 'findVersions' | 'valuesOf'>,
): IsMonitored {
  return async (projectId, objectId) => {
    const monitors = await reading.lastPublished(projectId, MONITOR_CLASS)
    if (monitors.some(({ object_id }) => object_id === objectId)) return true
    const seen = new Set(monitors.map(keyOf))
    let values = (await valuesOf(projectId, monitors)).map(scorersOf)
    while (values.length > 0) {
      const names = namesIn(projectId, values)
      if (seen.size + names.length > VERSIONS_MAX) return true
      const found = await reading.findVersions(projectId, names)
      const isOpen = ({ object_id, digest }: VersionName, at: number): boolean =>
        object_id === objectId && found[at]?.digest !== digest
      if (names.some(isOpen)) return true
      values = await valuesOf(
        projectId,
        found.filter((version) => isNew(version, seen)),
      )
    }
    return false
  }

  async function valuesOf(projectId: string, versions: readonly VersionRow[]): Promise<unknown[]> {
    const texts = await reading.valuesOf(projectId, versions)
    return [...texts.values()].map((text) => text.value())
  }
}

/** Of a monitor. It names ops too, but to choose the calls of whatever version. */
function scorersOf(monitor: unknown): unknown {
  return isRecord(monitor) ? monitor['scorers'] : undefined
}

/** The versions of the project that refs among the texts of values name. */
function namesIn(projectId: string, values: readonly unknown[]): VersionName[] {
  const refs = new Set(values.flatMap(textsIn))
  return [...refs].flatMap((text) => {
    const ref = refOf(text)
    if (ref?.version === undefined || ref.projectId !== projectId) return []
    return [{ object_id: ref.name, digest: ref.version }]
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Whether a version is there and was not seen before; from now on it was. */
function isNew(version: VersionRow | undefined, seen: Set<string>): version is VersionRow {
  if (version === undefined || !isLive(version) || seen.has(keyOf(version))) return false
  seen.add(keyOf(version))
  return true
}
