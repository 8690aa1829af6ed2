import { PartLost, type PartStatus } from './port.ts'

/** Base models kept in memory, running or not: more come from mistyped names than from use. */
const BASE_MODELS_MAX = 64

export type KnownPart<Kind> = Kind & AsyncDisposable

export interface KnownParts<Kind> extends AsyncDisposable {
  /** @throws PartLost when too many are in use; what `make` throws. */
  get(baseModel: string): Kind
  statuses(): (PartStatus & { base_model: string })[]
}

/**
 * Engine processes of one kind, made when first requested; above the limit, unused ones are dropped, except the kept
 * one.
 */
export function createKnownParts<Kind extends { status(): PartStatus }>(
  make: (baseModel: string) => KnownPart<Kind>,
  keptBaseModel: string,
): KnownParts<Kind> {
  const known = new Map<string, { part: KnownPart<Kind>; askedAt: number }>()
  const leaving = new Set<Promise<void>>()

  /** Drops the least recently requested engine process that has no users. */
  function forgetOne(): void {
    const unused = [...known]
      .filter(([baseModel, { part }]) => baseModel !== keptBaseModel && part.status().users === 0)
      .sort(([, a], [, b]) => a.askedAt - b.askedAt)
    const [oldest] = unused
    if (oldest === undefined) throw new PartLost(`${BASE_MODELS_MAX} base models are in use on this server`)
    const [baseModel, { part }] = oldest
    known.delete(baseModel)
    const gone: Promise<void> = Promise.resolve(part[Symbol.asyncDispose]()).finally(() =>
      leaving.delete(gone),
    )
    leaving.add(gone)
  }

  return {
    get(baseModel) {
      const askedAt = performance.now()
      const found = known.get(baseModel)
      if (found !== undefined) {
        found.askedAt = askedAt
        return found.part
      }
      if (known.size >= BASE_MODELS_MAX) forgetOne()
      const part = make(baseModel)
      known.set(baseModel, { part, askedAt })
      return part
    },
    statuses: () => [...known].map(([base_model, { part }]) => ({ base_model, ...part.status() })),
    async [Symbol.asyncDispose]() {
      const ends = [...known.values()].map(({ part }) => part[Symbol.asyncDispose]())
      await Promise.all([...ends, ...leaving])
    },
  }
}
