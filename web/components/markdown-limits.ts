/** Longer texts take too long to parse. */
const CHARS_MAX = 40_000

/** Emphasis and links are matched in quadratic time: 20,000 marks took 19 s, so these take half a second. */
const MARKS_MAX = 3_000

/** Lists and quotes within one another; each level is a call of the parser within another one. */
const DEPTH_MAX = 32

/** Most short texts have no mark of Markdown, and need no parser. */
const MAY_BE_MARKDOWN = /[*_`#[\]|>~]|^\s*([-+]|\d+[.)])\s|\n\s*\n|https?:/m

const MARK = /[*_`[\]~]/g

const BLOCK_MARKS = new RegExp(`^(?:[ \\t]*(?:[-+*>]|\\d{1,9}[.)])){${DEPTH_MAX + 1}}`, 'm')

/** Whether a text has Markdown that is parsed in a short time. Texts of models that repeat themselves may not be. */
export function isLaidOut(text: string): boolean {
  if (text.length > CHARS_MAX || !MAY_BE_MARKDOWN.test(text) || BLOCK_MARKS.test(text)) return false
  return (text.match(MARK)?.length ?? 0) <= MARKS_MAX
}
