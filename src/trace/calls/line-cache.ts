import { LRUCache } from 'lru-cache'
import type { ShownColumns } from './call-members.ts'

/** Twice the text of a trace of 30,000 calls of 2 kB. */
const BYTES_MAX = 128 * 1024 * 1024

/** Of one list; who reads more of one does not soon ask for it again. */
export const LIST_BYTES_MAX = BYTES_MAX / 2

/** What a line takes beside its text: its id, and its places in two collections. */
const LINE_BYTES = 256

/** Calls that change while others are read; after more, nothing of that reading is kept. */
const CHANGED_MAX = 10_000

/** Lines that were read together, and are dropped together. */
interface Block {
  texts: Buffer
  ids: string[]
  /** Of these ids, how many have their line here. */
  held: number
  of: ViewLines
}

/** Where the text of a call lies, its end of line included. */
export interface Line {
  block: Pick<Block, 'texts'>
  start: number
  end: number
}

/** What a project's calls look like in a list. */
export interface View {
  projectId: string
  /** Tells the members that are shown. */
  shown: string
}

interface ViewLines extends View {
  byId: Map<string, Line & { block: Block }>
}

export type LineCache = ReturnType<typeof createLineCache>

/**
 * The lines of calls of lists that are asked for again and again: those cost the database no more than to find their ids. Every write of calls is told before it is acknowledged, and a line is never older than the last of its call. So
 * one process alone may write the table.
 */
export function createLineCache(bytesMax = BYTES_MAX) {
  const projects = new Map<string, Map<string, ViewLines>>()
  const blocks = new LRUCache<Block, true>({
    maxSize: bytesMax,
    sizeCalculation: (_, block) => sizeOf(block),
    dispose: (_, block) => forget(block),
  })
  const readings = new Set<{ projectId: string; changed: Set<string> }>()

  function linesOf({ projectId, shown }: View): ViewLines {
    const views = projects.get(projectId) ?? new Map<string, ViewLines>()
    const lines = views.get(shown) ?? { projectId, shown, byId: new Map() }
    projects.set(projectId, views.set(shown, lines))
    return lines
  }

  function forget(block: Block): void {
    const { projectId, shown, byId } = block.of
    for (const id of block.ids) if (byId.get(id)?.block === block) byId.delete(id)
    if (byId.size > 0) return
    const views = projects.get(projectId)
    views?.delete(shown)
    if (views?.size === 0) projects.delete(projectId)
  }

  function leave(block: Block): void {
    if (--block.held === 0) blocks.delete(block)
  }

  function keep(view: View, read: Buffer, changed: ReadonlySet<string>): void {
    const block: Block = { texts: withoutSlack(read), ids: [], held: 0, of: linesOf(view) }
    const { byId } = block.of
    eachLine(block.texts, (id, start, end) => {
      if (changed.has(id)) return
      const known = byId.get(id)
      byId.set(id, { block, start, end })
      if (known !== undefined) leave(known.block)
      block.ids.push(id)
    })
    block.held = block.ids.length
    if (block.held > 0) blocks.set(block, true)
    // It may be larger than all that may be kept.
    if (!blocks.has(block)) forget(block)
  }

  return {
    /** The lines of calls, in their order; undefined for those that are not here. */
    of(view: View | undefined, ids: readonly string[]): (Line | undefined)[] {
      const known = view && projects.get(view.projectId)?.get(view.shown)?.byId
      let latest: Block | undefined
      return ids.map((id) => {
        const line = known?.get(id)
        if (line !== undefined && line.block !== latest) {
          latest = line.block
          blocks.get(latest)
        }
        return line
      })
    },

    /** Keeps the lines that `read` answers, but for those of calls that change meanwhile. */
    async keeping(view: View | undefined, read: () => Promise<Buffer[]>): Promise<Buffer[]> {
      if (view === undefined) return read()
      const reading = { projectId: view.projectId, changed: new Set<string>() }
      readings.add(reading)
      try {
        const texts = await read()
        if (reading.changed.size <= CHANGED_MAX) for (const lines of texts) keep(view, lines, reading.changed)
        return texts
      } finally {
        readings.delete(reading)
      }
    },

    /** Tells that calls have changed, or may have. */
    changed(calls: readonly { project_id: string; id: string }[]): void {
      for (const { project_id, id } of calls) {
        for (const view of projects.get(project_id)?.values() ?? []) {
          const line = view.byId.get(id)
          if (line === undefined) continue
          view.byId.delete(id)
          leave(line.block)
        }
        for (const { projectId, changed } of readings)
          if (projectId === project_id && changed.size <= CHANGED_MAX) changed.add(id)
      }
    },
  }
}

/** Lists that show the same of their calls have the same lines; undefined where a line says something of other calls. */
export function viewOf(
  projectId: string,
  { payloads, storageSize, totalStorageSize, usernames }: ShownColumns,
): View | undefined {
  if (totalStorageSize === 'with') return undefined
  return { projectId, shown: [storageSize, usernames, ...payloads].join(' ') }
}

/** The lines in texts as `callTexts` writes them. */
export function linesIn(texts: Buffer): [id: string, line: Line][] {
  const lines: [string, Line][] = []
  const block = { texts }
  eachLine(texts, (id, start, end) => lines.push([id, { block, start, end }]))
  return lines
}

function eachLine(texts: Buffer, take: (id: string, start: number, end: number) => void): void {
  for (let start = 0; start < texts.length; ) {
    const idAt = start + LINE_START.length
    // Ids are of letters, digits and dashes.
    const id = texts.toString('latin1', idAt, texts.indexOf(QUOTE, idAt))
    const end = texts.indexOf(END_OF_LINE, idAt) + 1
    take(id, start, end)
    start = end
  }
}

const QUOTE = 0x22
const END_OF_LINE = 0x0a
const LINE_START = '{"id":"'

function sizeOf({ texts, ids }: Block): number {
  return texts.byteLength + ids.length * LINE_BYTES
}

/** Texts that keep no more memory than they have bytes. */
function withoutSlack(texts: Buffer): Buffer {
  if (texts.buffer.byteLength <= texts.byteLength * 1.1) return texts
  const own = Buffer.allocUnsafeSlow(texts.byteLength)
  own.set(texts)
  return own
}
