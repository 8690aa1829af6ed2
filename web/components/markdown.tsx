import { Suspense } from 'react'
import { lazyPart } from './lazy-part.ts'

const MarkdownBody = lazyPart(async () => (await import('./markdown-body.tsx')).MarkdownBody)

/** Longer texts are not laid out as Markdown: it would take too long. */
const CHARS_MAX = 40_000

/** A text as Markdown; raw HTML in it stays text, and no picture is loaded. Until the parser is there it is plain. */
export function Markdown({ text }: { text: string }) {
  const plain = <p className="whitespace-pre-wrap wrap-anywhere">{text}</p>
  if (text.length > CHARS_MAX || !MAY_BE_MARKDOWN.test(text)) return plain
  return (
    <Suspense fallback={plain}>
      <MarkdownBody text={text} />
    </Suspense>
  )
}

/** Most short texts have no mark of it, and need no parser. */
const MAY_BE_MARKDOWN = /[*_`#[\]|>~]|^\s*([-+]|\d+[.)])\s|\n\s*\n|https?:/m
