import { invalidRequest } from '../../errors.ts'
import { JsonText, memberText } from '../../lossless-json.ts'
import type { Objects } from '../objects/service.ts'
import type { Tables } from '../tables/service.ts'
import { isRef, parseRef, type RefUri } from './ref-uri.ts'
import type * as wire from './wire.ts'

/** Wire: refs read in one request. */
const REFS_MAX = 1000

/** Refs followed on the way through one value; objects may refer to each other in a circle. */
const HOPS_MAX = 32

export type Refs = ReturnType<typeof createRefs>

type Edges = RefUri['edges']

/** What a ref leads to: a text, `undefined` for nothing, or a ref that has to be followed first. */
interface Walk {
  projectId: string
  found: string | undefined
  next: RefUri | undefined
}

/** Reads values by ref, following refs that lie on a path; all refs take a hop together, so that each hop is one query. */
export function createRefs({ objects, tables }: { objects: Objects; tables: Tables }) {
  /** Reads what the walks have to follow next and goes on from there. */
  async function hop(walks: readonly Walk[]): Promise<void> {
    const waiting = walks.flatMap((walk) => (walk.next === undefined ? [] : [{ walk, ref: walk.next }]))
    const texts = await Promise.all([
      ...[...groups(waiting.filter(isVersion), ({ ref }) => ref.projectId)].map(readVersions),
      ...[...groups(waiting.filter(isRow), ({ ref }) => `${ref.projectId} ${ref.name}`)].map(readRows),
    ])
    for (const item of waiting) if (!isVersion(item) && !isRow(item)) stop(item.walk)
    for (const [walk, text, edges] of texts.flat()) advance(walk, text, edges)
  }

  type Read = [walk: Walk, text: string | undefined, edges: Edges]

  async function readVersions(waiting: Waiting[]): Promise<Read[]> {
    const names = waiting.map(({ ref }) => ({ object_id: ref.name, digest: ref.version ?? '' }))
    const values = await objects.readValues(waiting[0]?.ref.projectId ?? '', names)
    return waiting.map(({ walk, ref }, index) => [walk, values[index]?.text, ref.edges])
  }

  async function readRows(waiting: Waiting[]): Promise<Read[]> {
    const digests = waiting.map(({ ref }) => ref.edges[0]?.value ?? '')
    const table = waiting[0]?.ref
    const values = await tables.readRows(table?.projectId ?? '', table?.name ?? '', digests)
    return waiting.map(({ walk, ref }, index) => [
      walk,
      values.get(digests[index] ?? '')?.text,
      ref.edges.slice(1),
    ])
  }

  return {
    /** Values in the order of their refs; null for a deleted object or a path that leads nowhere. */
    async readBatch(req: wire.RefsReadBatchReq) {
      if (req.refs.length > REFS_MAX) throw invalidRequest(`At most ${REFS_MAX} refs at once`)
      const walks = req.refs.map(startOf)
      for (let hops = 0; hops < HOPS_MAX && walks.some((walk) => walk.next !== undefined); hops++)
        await hop(walks)
      return { vals: walks.map(({ found }) => (found === undefined ? null : new JsonText(found))) }
    },
  }
}

interface Waiting {
  walk: Walk
  ref: RefUri
}

function groups(waiting: readonly Waiting[], keyOf: (item: Waiting) => string): Iterable<Waiting[]> {
  return Map.groupBy(waiting, keyOf).values()
}

function isVersion({ ref }: Waiting): boolean {
  return ref.kind === 'object' || ref.kind === 'op'
}

/** Wire: of a table only single rows can be reached. */
function isRow({ ref }: Waiting): boolean {
  return ref.kind === 'table' && ref.edges[0]?.kind === 'id'
}

function stop(walk: Walk): void {
  walk.next = undefined
  walk.found = undefined
}

/** Walks on from a value. Wire: a missing step is null; a ref that is itself the result stays a ref. */
function advance(walk: Walk, value: string | undefined, edges: Edges): void {
  walk.next = undefined
  let text = value
  for (const [at, edge] of edges.entries()) {
    const ref = text === undefined ? undefined : refIn(text)
    if (ref !== undefined) {
      text = undefined
      // Wire: refs into other projects are not followed.
      if (ref.projectId === walk.projectId) walk.next = { ...ref, edges: [...ref.edges, ...edges.slice(at)] }
      break
    }
    text = text === undefined ? undefined : step(text, edge)
  }
  walk.found = text
}

function step(text: string, { kind, value }: Edges[number]): string | undefined {
  if (kind === 'id') return undefined
  if (kind !== 'index') return memberText(text, value)
  return /^\d+$/.test(value) ? memberText(text, Number(value)) : undefined
}

function startOf(text: string): Walk {
  const ref = parseRef(text)
  if (ref.kind !== 'object' && ref.kind !== 'op')
    throw invalidRequest(`Only object refs can be read: ${text}`)
  if (ref.version === 'latest') throw invalidRequest(`A ref must name a version, not latest: ${text}`)
  return { projectId: ref.projectId, found: undefined, next: ref }
}

function refIn(text: string): RefUri | undefined {
  if (!text.startsWith('"')) return undefined
  const value: unknown = JSON.parse(text)
  return typeof value === 'string' && isRef(value) ? parseRef(value) : undefined
}
