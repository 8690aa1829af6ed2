import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, placeholder as hint, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

export interface CodeAreaProps {
  /** Read out; there is no text beside the field. */
  label: string
  value: string
  onChange: (value: string) => void
  placeholder?: string
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-key)' },
  { tag: tags.string, color: 'var(--json-text)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-word)' },
])

const THEME = EditorView.theme({
  '&': { fontSize: '12px', borderRadius: '6px', border: '1px solid var(--hair)', background: 'var(--panel)' },
  '&.cm-focused': { outline: '1px solid var(--focus)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', minHeight: '128px', maxHeight: '280px' },
  '.cm-content': { caretColor: 'var(--strong)' },
  '.cm-cursor': { borderLeftColor: 'var(--strong)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selected) !important',
  },
  '.cm-placeholder': { color: 'var(--muted)', whiteSpace: 'pre-wrap' },
  '.cm-tooltip': { background: 'var(--raised)', border: '1px solid var(--hair)', color: 'var(--normal)' },
})

const parse = jsonParseLinter()

/** The editor itself. Tab leaves it, so keyboard users are not trapped. */
export function CodeArea({ label, value, onChange, placeholder = '' }: CodeAreaProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(onChange)
  const first = useRef(value)
  useEffect(() => {
    latest.current = onChange
  })
  useEffect(() => {
    if (host.current === null) return
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          linter((editor) => (editor.state.doc.length === 0 ? [] : parse(editor))),
          syntaxHighlighting(HIGHLIGHT),
          THEME,
          hint(placeholder),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [label, placeholder])
  // What comes from elsewhere, as a replayed call, replaces what is written.
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  return <div ref={host} />
}
