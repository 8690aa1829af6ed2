/** How large a regular expression becomes when its repetitions are written out: upper bounds. */
export interface PatternSize {
  /** Characters and classes; counted repetitions multiply, alternatives add up. */
  atoms: number
  /** Repetitions without a fixed count. */
  variable: number
}

/** Products of counts stay numbers. */
const COUNT_MAX = 1e9

/**
 * Spaces stand in one place only between two other characters, or a text of spaces would take the cube of its length.
 */
const COUNTED = /\{\s*(?:(\d+)\s*)?(?:(,)\s*(?:(\d+)\s*)?)?\}/y
const ESCAPE = /\\(?:[pPuxN]\{[^}]*\}|[\s\S])/y
/** Ends at the first bracket that may end it: what some dialects have in the class is counted as if it came after. */
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y
const GROUP = /\((?:\?(?:[:=!>]|<[=!]|P?<[^>]*>))?/y

/**
 * Invalid patterns have a size too: the engine refuses them. Takes the square of the length where groups and escapes do
 * not end.
 */
export function patternSize(pattern: string): PatternSize {
  const open: PatternSize[] = []
  let sum = empty()
  let last = empty()
  let at = 0
  // Where one class has no end, no later one has: each would be searched through to the end of the pattern.
  let classesEnd = true
  const match = (part: RegExp) => {
    part.lastIndex = at
    const found = part.exec(pattern)
    if (found !== null) at = part.lastIndex
    return found
  }
  const close = () => {
    sum = { atoms: sum.atoms + last.atoms, variable: sum.variable + last.variable }
    last = empty()
  }
  while (at < pattern.length) {
    const counted = match(COUNTED)
    const char = pattern.charAt(at)
    if (counted !== null) last = repeated(last, ...countOf(counted))
    else if ('*+?'.includes(char)) {
      last = repeated(last, 1, true)
      at++
    } else if (char === ')') {
      close()
      last = sum
      sum = open.pop() ?? empty()
      at++
    } else {
      close()
      if (match(GROUP) !== null) {
        open.push(sum)
        sum = empty()
        continue
      }
      const isClass: boolean = char === '[' && classesEnd && match(CLASS) !== null
      if (char === '[') classesEnd = isClass
      if (!isClass && match(ESCAPE) === null) at++
      last = { atoms: '^$|'.includes(char) ? 0 : 1, variable: 0 }
    }
  }
  close()
  return open.reduce(
    (all, { atoms, variable }) => ({ atoms: all.atoms + atoms, variable: all.variable + variable }),
    sum,
  )
}

const empty = (): PatternSize => ({ atoms: 0, variable: 0 })

function countOf([, least = '', comma, most]: RegExpExecArray): [count: number, isVariable: boolean] {
  const low = Number(least)
  if (comma === undefined) return [low, false]
  return most === undefined || most === '' ? [low + 1, true] : [Math.max(low, Number(most)), true]
}

function repeated({ atoms, variable }: PatternSize, count: number, isVariable: boolean): PatternSize {
  const times = Math.min(Math.max(count, 1), COUNT_MAX)
  return { atoms: Math.max(atoms, 1) * times, variable: variable * times + (isVariable ? 1 : 0) }
}
