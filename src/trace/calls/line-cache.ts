import type { ShownColumns } from './call-members.ts'

/** Twice the text of a trace of 30,000 calls of 2 kB. */
const BYTES_MAX = 128 * 1024 * 1024

/** Of one list; who reads more of one does not soon ask for it again. */
export const LIST_BYTES_MAX = BYTES_MAX / 2

/** What a line takes beside its text: its id, and its places in two collections. */
const LINE_BYTES = 256

/** Calls that change while others are read; after more, nothing of that reading is kept. */
const CHANGED_MAX = 10_000

/** Where the text of a call lies, its end of line included. */
export interface Line {
  texts: Buffer
  start: number
  end: number
}

/** Lines that were read together are dropped together. */
interface Block {
  texts: Buffer
  ids: string[]
  /** Of these ids, how many have their line here. */
  held: number
  view: Lines
}

type Lines = Map<string, Line & { block: Block }>

/** What a project's calls look like in a list; undefined where that depends on other calls. */
export type View = { projectId: string; shown: string } | undefined

export type LineCache = ReturnType<typeof createLineCache>

/**
 * The lines of calls that were read lately, so that a list that is asked for again costs the database no more than to find
 * its ids. Every write of calls is told before it is acknowledged, and a line is never older than the last of its call. So
 * one process alone may write the table.
 */
export function createLineCache(bytesMax = BYTES_MAX) {
  const projects = new Map<string, Map<string, Lines>>()
  /** Whichever was asked for last is the last. */
  const blocks = new Set<Block>()
  const readings = new Set<{ projectId: string; changed: Set<string> }>()
  let bytes = 0

  function release(block: Block): void {
    if (!blocks.delete(block)) return
    bytes -= sizeOf(block)
    for (const id of block.ids) if (block.view.get(id)?.block === block) block.view.delete(id)
  }

  function drop(view: Lines, id: string): void {
    const block = view.get(id)?.block
    if (block === undefined) return
    view.delete(id)
    if (--block.held === 0) release(block)
  }

  function linesOf({ projectId, shown }: NonNullable<View>): Lines {
    const views = projects.get(projectId) ?? new Map<string, Lines>()
    projects.set(projectId, views)
    const lines: Lines = views.get(shown) ?? new Map()
    views.set(shown, lines)
    return lines
  }

  function keep(view: Lines, read: Buffer, changed: ReadonlySet<string>): void {
    const block: Block = { texts: withoutSlack(read), ids: [], held: 0, view }
    for (const { id, ...line } of linesIn(block.texts)) {
      if (changed.has(id)) continue
      drop(view, id)
      view.set(id, { ...line, block })
      block.ids.push(id)
    }
    block.held = block.ids.length
    if (block.held === 0) return
    blocks.add(block)
    bytes += sizeOf(block)
    for (const oldest of blocks) {
      if (bytes <= bytesMax) break
      release(oldest)
    }
  }

  return {
    /** The lines of calls, in their order; undefined for those that are not here. */
    of(view: View, ids: readonly string[]): (Line | undefined)[] {
      const known = view && projects.get(view.projectId)?.get(view.shown)
      let latest: Block | undefined
      return ids.map((id) => {
        const line = known?.get(id)
        if (line !== undefined && line.block !== latest) {
          latest = line.block
          blocks.delete(latest)
          blocks.add(latest)
        }
        return line
      })
    },

    /** Keeps the lines that `read` answers, but for those of calls that change meanwhile. */
    async keeping(view: View, read: () => Promise<Buffer[]>): Promise<Buffer[]> {
      if (view === undefined) return read()
      const reading = { projectId: view.projectId, changed: new Set<string>() }
      readings.add(reading)
      try {
        const texts = await read()
        if (reading.changed.size <= CHANGED_MAX)
          for (const lines of texts) keep(linesOf(view), lines, reading.changed)
        return texts
      } finally {
        readings.delete(reading)
      }
    },

    /** Tells that calls have changed, or may have. */
    changed(calls: readonly { project_id: string; id: string }[]): void {
      for (const { project_id, id } of calls) {
        for (const view of projects.get(project_id)?.values() ?? []) drop(view, id)
        for (const { projectId, changed } of readings)
          if (projectId === project_id && changed.size <= CHANGED_MAX) changed.add(id)
      }
    },
  }
}

/** The lines of lists that show the same of their calls are the same. */
export function viewOf(
  projectId: string,
  { payloads, storageSize, totalStorageSize, usernames }: ShownColumns,
): View {
  if (totalStorageSize === 'with') return undefined
  return { projectId, shown: [storageSize, usernames, ...payloads].join(' ') }
}

/** The lines in texts as `callTexts` writes them. */
export function* linesIn(texts: Buffer): Generator<Line & { id: string }> {
  for (let start = 0; start < texts.length; ) {
    const idAt = start + LINE_START.length
    // Ids are of letters, digits and dashes.
    const id = texts.toString('latin1', idAt, texts.indexOf('"', idAt))
    const end = texts.indexOf('\n', idAt) + 1
    yield { id, texts, start, end }
    start = end
  }
}

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
