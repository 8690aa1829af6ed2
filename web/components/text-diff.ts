export interface DiffPart {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Words or lines compared at most: the table is their product. The rest counts as one change. */
const PIECES_MAX = 2_000

/** How one text becomes another, word by word. */
export function wordDiff(before: string, after: string): DiffPart[] {
  return merged(diff(wordsOf(before), wordsOf(after)))
}

/** A line of one text beside what stands for it in another; undefined where there is nothing. */
export interface LinePair {
  before: string | undefined
  after: string | undefined
}

/**
 * How one text becomes another, line by line: lines that stayed beside each other, and so those that took each other's
 * place.
 */
export function lineDiff(before: string, after: string): LinePair[] {
  const pairs: LinePair[] = []
  let changes: { gone: string[]; new: string[] } = { gone: [], new: [] }
  const flush = () => {
    for (let index = 0; index < Math.max(changes.gone.length, changes.new.length); index++)
      pairs.push({ before: changes.gone[index], after: changes.new[index] })
    changes = { gone: [], new: [] }
  }
  for (const { kind, text } of diff(before.split('\n'), after.split('\n'))) {
    if (kind !== 'same') changes[kind].push(text)
    else {
      flush()
      pairs.push({ before: text, after: text })
    }
  }
  flush()
  return pairs
}

/** The pieces of two lists in order, by their longest common subsequence. */
function diff(a: readonly string[], b: readonly string[]): DiffPart[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++
  const same = (text: string): DiffPart => ({ kind: 'same', text })
  return [
    ...a.slice(0, start).map(same),
    ...middleDiff(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ]
}

function wordsOf(text: string): string[] {
  return text.match(/\w+|\s+|[^\w\s]/gu) ?? []
}

/** Of lists that begin and end differently. */
function middleDiff(a: readonly string[], b: readonly string[]): DiffPart[] {
  if (a.length > PIECES_MAX || b.length > PIECES_MAX)
    return [
      ...a.map((text): DiffPart => ({ kind: 'gone', text })),
      ...b.map((text): DiffPart => ({ kind: 'new', text })),
    ]
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const parts: DiffPart[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [gone, come] = [a[i], b[j]]
    if (gone !== undefined && gone === come) {
      parts.push({ kind: 'same', text: gone })
      i++
      j++
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1))) {
      parts.push({ kind: 'gone', text: gone })
      i++
    } else {
      parts.push({ kind: 'new', text: come ?? '' })
      j++
    }
  }
  return parts
}

/** Neighbours of one kind are one part; between two things that stayed, all that went comes first. */
function merged(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = []
  let changes = { gone: '', new: '' }
  const flush = () => {
    if (changes.gone !== '') result.push({ kind: 'gone', text: changes.gone })
    if (changes.new !== '') result.push({ kind: 'new', text: changes.new })
    changes = { gone: '', new: '' }
  }
  for (const { kind, text } of parts) {
    if (text === '') continue
    if (kind !== 'same') {
      changes[kind] += text
      continue
    }
    flush()
    const last = result.at(-1)
    if (last?.kind === 'same') last.text += text
    else result.push({ kind, text })
  }
  flush()
  return result
}
