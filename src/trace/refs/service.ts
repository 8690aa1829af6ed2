import { invalidRequest, notFound, tooLarge } from '../../errors.ts'
import { JsonText, memberText } from '../../json/lossless-json.ts'
import { slicesOf } from '../../slices.ts'
import { forEachYielding } from '../../yielding.ts'
import { createReplyBudget } from '../collect-reply.ts'
import type { Objects } from '../objects/service.ts'
import { parseRef, type RefUri, refOf } from '../ref-uri.ts'
import type { Tables } from '../tables/service.ts'
import type * as wire from './wire.ts'

/** Wire: refs read in one request. */
const REFS_MAX = 1000

/** Characters of values that are resolved together: as many as a reply may have. */
const RESOLVED_CHARS_MAX = 256 * 1024 * 1024

/** Refs followed to resolve one value; objects may refer to each other in a circle. */
const HOPS_MAX = 32

type Edges = RefUri['edges']

/** The state of resolving a ref: a text, `undefined` for nothing, or a ref to follow next. */
interface Walk {
  projectId: string
  found: string | undefined
  next: RefUri | undefined
}

/** Whether a ref to something that never existed is an error, or resolves to nothing like one to a deleted object. */
type Unknown = 'refused' | 'nothing'

/** Resolves refs to values, following refs on the path; all refs take a hop together, so that each hop is one query. */
export interface Refs {
  /** Values in the order of their refs; null for a deleted object or an unresolved path. */
  readBatch(req: wire.RefsReadBatchReq): Promise<wire.RefsReadBatchRes>
  /**
   * The values of refs within a project, continued by the steps of a path; without unresolved refs and those to other
   * projects. @throws 413 for too large ones
   */
  resolve(projectId: string, refs: Iterable<string>, path?: readonly string[]): Promise<Map<string, JsonText>>
}

export function createRefs({ objects, tables }: { objects: Objects; tables: Tables }): Refs {
  /** @throws 404 for refs to something that never existed, where that is an error. */
  async function follow(walks: readonly Walk[], unknown: Unknown): Promise<void> {
    for (let hops = 0; hops < HOPS_MAX && walks.some((walk) => walk.next !== undefined); hops++)
      await hop(walks, unknown)
  }

  /** Reads the values that are needed next and continues from there. */
  async function hop(walks: readonly Walk[], unknown: Unknown): Promise<void> {
    const waiting = walks.flatMap((walk) => (walk.next === undefined ? [] : [{ walk, ref: walk.next }]))
    const versions = groups(waiting.filter(isVersion), ({ ref }) => ref.projectId)
    const rows = groups(waiting.filter(isRow), ({ ref }) => `${ref.projectId} ${ref.name}`)
    const texts = await Promise.all([
      ...[...versions].map((group) => readVersions(group, unknown)),
      ...[...rows].map((group) => readRows(group, unknown)),
    ])
    for (const item of waiting) if (!isVersion(item) && !isRow(item)) stop(item.walk)
    await forEachYielding(texts.flat(), ([walk, text, edges]) => advance(walk, text, edges))
  }

  type Read = [walk: Walk, text: string | undefined, edges: Edges]

  async function readVersions(waiting: Waiting[], unknown: Unknown): Promise<Read[]> {
    const names = waiting.map(({ ref }) => ({
      object_id: ref.name,
      digest: ref.version ?? '',
      kind: ref.kind,
    }))
    const values = await objects.readValues(waiting[0]?.ref.projectId ?? '', names)
    return waiting.map(({ walk, ref }, index) => {
      if (values[index] === undefined && unknown === 'refused')
        throw notFound('Obj', `${ref.name}:${ref.version}`)
      return [walk, values[index]?.text, ref.edges]
    })
  }

  async function readRows(waiting: Waiting[], unknown: Unknown): Promise<Read[]> {
    const digests = waiting.map(({ ref }) => ref.edges[0]?.value ?? '')
    const table = waiting[0]?.ref
    const values = await tables.readRows(table?.projectId ?? '', table?.name ?? '', digests)
    return waiting.map(({ walk, ref }, index) => {
      const digest = digests[index] ?? ''
      if (!values.has(digest) && unknown === 'refused')
        throw notFound('Row', `${digest} of table ${ref.name}`)
      return [walk, values.get(digest)?.text, ref.edges.slice(1)]
    })
  }

  async function readBatch(req: wire.RefsReadBatchReq) {
    if (req.refs.length > REFS_MAX) throw invalidRequest(`At most ${REFS_MAX} refs at once`)
    const walkOf = new Map(req.refs.map((text) => [text, startOf(text)]))
    await follow([...walkOf.values()], 'refused')
    const walks = req.refs.flatMap((text) => walkOf.get(text) ?? [])
    // Refs may name the same value many times.
    const onPayload = createReplyBudget()
    for (const { found } of walks) onPayload(found?.length ?? 0)
    return { vals: walks.map(({ found }) => (found === undefined ? null : new JsonText(found))) }
  }

  async function resolve(
    projectId: string,
    refs: Iterable<string>,
    path: readonly string[] = [],
  ): Promise<Map<string, JsonText>> {
    const edges = path.map((value) => ({
      kind: /^\d+$/.test(value) ? ('index' as const) : ('key' as const),
      value,
    }))
    const started = [...new Set(refs)].flatMap((text) => {
      const ref = refOf(text)
      if (ref?.projectId !== projectId || (ref.kind !== 'object' && ref.kind !== 'op')) return []
      const next = { ...ref, edges: [...ref.edges, ...edges] }
      const walk: Walk = { projectId, found: undefined, next }
      return [{ text, walk }]
    })
    let chars = 0
    for (const some of slicesOf(started, REFS_MAX)) {
      const walks = some.map(({ walk }) => walk)
      await follow(walks, 'nothing')
      for (const walk of walks) chars += walk.found?.length ?? 0
      if (chars > RESOLVED_CHARS_MAX)
        throw tooLarge(`The values behind the refs have more than ${RESOLVED_CHARS_MAX} characters together`)
      if (path.length > 0) for (const walk of walks) walk.found = copyOf(walk.found)
    }
    const found = started.map(({ text, walk }) => [text, walk.found] as const)
    return new Map(found.flatMap(([ref, text]) => (text === undefined ? [] : [[ref, new JsonText(text)]])))
  }

  return { readBatch, resolve }
}

/** A substring keeps the whole text in memory, a copy does not. */
function copyOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text).toString()
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

/** Follows a path into a value. Wire: a missing step is null; a ref that is itself the result stays a ref. */
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

/** The ref in a JSON text; undefined for a string that only begins like one. */
function refIn(text: string): RefUri | undefined {
  if (!text.startsWith('"')) return undefined
  const value: unknown = JSON.parse(text)
  return typeof value === 'string' ? refOf(value) : undefined
}
