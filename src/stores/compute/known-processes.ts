import { EngineProcessLost, type EngineProcessStatus } from './port.ts'

/** Base models kept in memory, running or not: more come from mistyped names than from use. */
const BASE_MODELS_MAX = 64

export type KnownProcess<Kind> = Kind & AsyncDisposable

export interface KnownProcesses<Kind> extends AsyncDisposable {
  /** @throws EngineProcessLost when too many are in use; what `make` throws. */
  get(baseModel: string): Kind
  statuses(): (EngineProcessStatus & { base_model: string })[]
}

/**
 * Engine processes of one kind, made when first requested; above the limit, unused ones are dropped, except the kept
 * one.
 */
export function createKnownProcesses<Kind extends { status(): EngineProcessStatus }>(
  make: (baseModel: string) => KnownProcess<Kind>,
  keptBaseModel: string,
): KnownProcesses<Kind> {
  const known = new Map<string, { process: KnownProcess<Kind>; askedAt: number }>()
  const leaving = new Set<Promise<void>>()

  /** Drops the least recently requested engine process that has no users. */
  function dropOne(): void {
    const unused = [...known]
      .filter(([baseModel, { process }]) => baseModel !== keptBaseModel && process.status().users === 0)
      .sort(([, a], [, b]) => a.askedAt - b.askedAt)
    const [oldest] = unused
    if (oldest === undefined)
      throw new EngineProcessLost(`${BASE_MODELS_MAX} base models are in use on this server`)
    const [baseModel, { process }] = oldest
    known.delete(baseModel)
    const gone: Promise<void> = Promise.resolve(process[Symbol.asyncDispose]()).finally(() =>
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
        return found.process
      }
      if (known.size >= BASE_MODELS_MAX) dropOne()
      const process = make(baseModel)
      known.set(baseModel, { process, askedAt })
      return process
    },
    statuses: () => [...known].map(([base_model, { process }]) => ({ base_model, ...process.status() })),
    async [Symbol.asyncDispose]() {
      const ends = [...known.values()].map(({ process }) => process[Symbol.asyncDispose]())
      await Promise.all([...ends, ...leaving])
    },
  }
}
