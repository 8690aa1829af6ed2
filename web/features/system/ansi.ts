/** A piece of a line in one style. */
export interface Run {
  text: string
  /** The number of a colour of terminals, 0 (black) to 7 (white); undefined for the text's own. */
  color: number | undefined
  isBold: boolean
}

/** Control sequences, which terminals do not show: styles, cursor movements, titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPE = /\u001b(?:\[([\d;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g

/**
 * A line for a terminal as runs of text. Of a line that was drawn over itself, as progress bars are, the last state.
 */
export function runsOf(line: string): Run[] {
  const shown = line.slice(line.trimEnd().lastIndexOf('\r') + 1)
  const runs: Run[] = []
  let style: Pick<Run, 'color' | 'isBold'> = { color: undefined, isBold: false }
  let from = 0
  const add = (text: string) => {
    if (text !== '') runs.push({ text, ...style })
  }
  for (const match of shown.matchAll(ESCAPE)) {
    add(shown.slice(from, match.index))
    from = match.index + match[0].length
    if (match[2] === 'm') style = styleAfter(style, match[1] ?? '')
  }
  add(shown.slice(from))
  return runs
}

/** What is left when styles are taken away. */
export function plainText(line: string): string {
  return line.replaceAll(ESCAPE, '')
}

/** https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters; colours of 256 are left out. */
function styleAfter(style: Pick<Run, 'color' | 'isBold'>, codes: string): Pick<Run, 'color' | 'isBold'> {
  const numbers = codes.split(/[;:]/).map(Number)
  let { color, isBold } = style
  for (const code of numbers) {
    // What follows are the parts of one colour, and no codes.
    if (code === 38 || code === 48) break
    if (code === 0) {
      color = undefined
      isBold = false
    } else if (code === 1) isBold = true
    else if (code === 22) isBold = false
    else if (code === 39) color = undefined
    else if (code >= 30 && code <= 37) color = code - 30
    else if (code >= 90 && code <= 97) color = code - 90
  }
  return { color, isBold }
}
