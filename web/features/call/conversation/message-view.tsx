import { CodeXml, Text, Wrench } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Json } from '../../../api/wire.ts'
import { Button, IconButton } from '../../../components/button.tsx'
import { classNames } from '../../../components/class-names.ts'
import { CopyButton } from '../../../components/copy-button.tsx'
import { JsonView } from '../../../components/json-view/json-view.tsx'
import { Markdown } from '../../../components/markdown.tsx'
import { type Message, type Part, parsed } from './messages.ts'
import type { Pairing } from './pairing.ts'

const EDGES: Record<string, string> = {
  assistant: 'border-kind-llm',
  tool: 'border-kind-tool',
  system: 'border-line',
  developer: 'border-line',
  user: 'border-kind-agent',
}

/** A text longer than this begins folded, unless it is what was answered. */
const FOLDED_CHARS = 1500

interface MessageProps {
  message: Message
  /** Of tool calls, by the part of the call. */
  results: Pairing['results']
  media: (value: Json) => ReactNode
}

/** One message: its role at the edge, its parts in order. */
export function MessageView({ message: { role, parts }, results, media }: MessageProps) {
  const [isRaw, setRaw] = useState(false)
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
  return (
    <article
      aria-label={role}
      className={classNames(
        'group/message rounded-md border-s-2 bg-inset/60 px-3 py-1.5',
        EDGES[role] ?? 'border-line',
      )}
    >
      <header className="flex h-6 items-center gap-1 text-2xs text-muted">
        <span className="me-auto font-strong">{role}</span>
        {text !== '' && (
          <span className="flex opacity-0 group-focus-within/message:opacity-100 group-hover/message:opacity-100 coarse:opacity-100">
            <IconButton
              label={isRaw ? 'Show as Markdown' : 'Show as it was sent'}
              size="small"
              icon={isRaw ? <Text size={13} /> : <CodeXml size={13} />}
              onClick={() => setRaw(!isRaw)}
            />
            <CopyButton text={text} label="Copy message" />
          </span>
        )}
      </header>
      <div className="flex flex-col gap-2">
        {parts.length === 0 && <p className="text-xs text-muted">nothing</p>}
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place in the message
          <PartView key={index} part={part} isRaw={isRaw} results={results} media={media} />
        ))}
      </div>
    </article>
  )
}

function PartView({
  part,
  isRaw,
  results,
  media,
}: Omit<MessageProps, 'message'> & { part: Part; isRaw: boolean }) {
  if (part.kind === 'text') return <TextPart text={part.text} isRaw={isRaw} />
  if (part.kind === 'reasoning')
    return (
      <details className="text-xs text-muted">
        <summary className="cursor-pointer select-none">
          reasoning, {part.text.length.toLocaleString('en')} characters
        </summary>
        <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{part.text}</p>
      </details>
    )
  if (part.kind === 'media') return media(part.value)
  if (part.kind === 'call') return <ToolCall part={part} result={results.get(part)} />
  return <Value label={part.kind === 'result' ? `Result ${part.id}`.trim() : 'Part'} value={part.value} />
}

function TextPart({ text, isRaw }: { text: string; isRaw: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const isFolded = !isWhole && text.length > FOLDED_CHARS * 1.2
  const shown = isFolded ? text.slice(0, FOLDED_CHARS) : text
  return (
    <div className="text-normal">
      {isRaw ? (
        <p className="font-mono text-xs whitespace-pre-wrap wrap-anywhere">{shown}</p>
      ) : (
        <Markdown text={shown} />
      )}
      {isFolded && (
        <Button size="small" look="quiet" className="mt-1" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </Button>
      )}
    </div>
  )
}

/** What was called with what, and what came back. */
function ToolCall({ part, result }: { part: Extract<Part, { kind: 'call' }>; result: Json | undefined }) {
  return (
    <section aria-label={`Call of ${part.name}`} className="rounded-md border border-hair bg-panel px-2 py-1">
      <p className="flex h-6 items-center gap-1.5 text-xs">
        <Wrench size={13} aria-hidden className="text-kind-tool" />
        <span className="font-mono font-strong text-strong">{part.name}</span>
      </p>
      <Value label="Arguments" value={part.input} />
      {result === undefined ? (
        <p className="py-1 text-xs text-muted">No result in this conversation</p>
      ) : (
        <Value label="Result" value={result} />
      )}
    </section>
  )
}

const VALUE_PX = 220
/** So little JSON is read faster as one line. */
const LINE_CHARS = 120

function Value({ label, value }: { label: string; value: Json }) {
  const read = parsed(value)
  const line = typeof read === 'string' ? undefined : JSON.stringify(read)
  if (line !== undefined && line.length > LINE_CHARS)
    return <JsonView label={label} value={read} maxHeight={VALUE_PX} />
  return (
    <div className="flex gap-2 py-0.5">
      <span className="w-16 shrink-0 text-2xs leading-4.5 text-muted">{label}</span>
      <div className="min-w-0 flex-1">
        {typeof read === 'string' ? (
          <TextPart text={read} isRaw={false} />
        ) : (
          <code className="font-mono text-xs wrap-anywhere text-normal">{line}</code>
        )}
      </div>
    </div>
  )
}
