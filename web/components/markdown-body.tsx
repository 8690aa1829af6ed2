import { type ComponentProps, isValidElement, type ReactNode } from 'react'
import { Streamdown } from 'streamdown'
import { OutsideLink } from './outside-link.tsx'
import { CodeBlock } from './states.tsx'

/** Plain elements, looking like the rest of the page; the library's own bring buttons and colours of their own. */
const PARTS: NonNullable<ComponentProps<typeof Streamdown>['components']> = {
  p: ({ children }) => <p className="my-1.5">{children}</p>,
  h1: ({ children }) => <Heading>{children}</Heading>,
  h2: ({ children }) => <Heading>{children}</Heading>,
  h3: ({ children }) => <Heading>{children}</Heading>,
  h4: ({ children }) => <Heading>{children}</Heading>,
  h5: ({ children }) => <Heading>{children}</Heading>,
  h6: ({ children }) => <Heading>{children}</Heading>,
  ul: ({ children }) => <ul className="my-1.5 list-disc ps-5">{children}</ul>,
  ol: ({ children, start }) => (
    <ol className="my-1.5 list-decimal ps-5" start={start}>
      {children}
    </ol>
  ),
  li: ({ children }) => <li className="my-0.5">{children}</li>,
  strong: ({ children }) => <strong className="font-strong text-strong">{children}</strong>,
  em: ({ children }) => <em>{children}</em>,
  hr: () => <hr className="my-3 border-hair" />,
  blockquote: ({ children }) => (
    <blockquote className="my-1.5 border-s-2 border-line ps-3 text-muted">{children}</blockquote>
  ),
  a: ({ children, href }) => <OutsideLink href={href}>{children}</OutsideLink>,
  // Loading an image of a trace would tell its server who views it.
  img: ({ alt, src }) => (
    <OutsideLink href={typeof src === 'string' ? src : undefined}>
      {alt === undefined || alt === '' ? 'picture' : alt}
    </OutsideLink>
  ),
  table: ({ children }) => (
    <div className="thin-scroll my-2 overflow-x-auto">
      <table className="border-collapse text-xs [&_td]:border [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:px-2 [&_th]:py-1 [&_th]:text-start [&_th]:font-strong">
        {children}
      </table>
    </div>
  ),
  thead: ({ children }) => <thead>{children}</thead>,
  tbody: ({ children }) => <tbody>{children}</tbody>,
  tr: ({ children }) => <tr>{children}</tr>,
  th: ({ children }) => <th>{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  pre: ({ children }) => (
    <div className="my-2">
      <CodeBlock code={codeOf(children)} label="code" />
    </div>
  ),
  inlineCode: ({ children }) => (
    <code className="rounded-sm bg-inset px-1 font-mono text-xs wrap-anywhere">{children}</code>
  ),
}

/** The parser, which `markdown.tsx` loads. */
export function MarkdownBody({ text }: { text: string }) {
  return (
    <Streamdown
      mode="static"
      rehypePlugins={[]}
      components={PARTS}
      className="[&>*:first-child]:mt-0 [&>*:last-child]:mb-0 wrap-anywhere"
    >
      {text}
    </Streamdown>
  )
}

function Heading({ children }: { children?: ReactNode }) {
  return <p className="mt-3 mb-1 font-strong text-strong">{children}</p>
}

/** The text of the one element within a `pre`. */
function codeOf(children: ReactNode): string {
  if (!isValidElement<{ children?: ReactNode }>(children)) return ''
  const { children: text } = children.props
  return typeof text === 'string' ? text.trimEnd() : ''
}
