export interface DiffPart {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Words compared at most: the table is their product. Beyond them the rest is told as one change. */
const WORDS_MAX = 2_000

/** How one text becomes another, word by word, by their longest common subsequence. */
export function wordDiff(before: string, after: string): DiffPart[] {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++
  const middle = diffWords(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return merged([
    { kind: 'same', text: a.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: a.slice(a.length - end).join('') },
  ])
}

function wordsOf(text: string): string[] {
  return text.match(/\w+|\s+|[^\w\s]/gu) ?? []
}

function diffWords(a: readonly string[], b: readonly string[]): DiffPart[] {
  if (a.length > WORDS_MAX || b.length > WORDS_MAX)
    return [
      { kind: 'gone', text: a.join('') },
      { kind: 'new', text: b.join('') },
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
