import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProjectName } from '../../../api/project.ts'
import { type DocumentName, type RedactedSample, type Rule, testRedaction } from '../../../api/redaction.ts'
import type { Json } from '../../../api/wire.ts'
import { Button } from '../../../components/button.tsx'
import { formatCount } from '../../../components/format.ts'
import { Select } from '../../../components/select.tsx'
import { CodeBlock } from '../../../components/states.tsx'
import { DOCUMENTS } from './rule-draft.ts'

interface TestBoxProps {
  name: ProjectName
  rules: readonly Rule[]
}

const SAMPLE = `{
  "messages": [{"role": "user", "content": "Write to ada@example.com"}],
  "password": "hunter2"
}`

/** Applies the rules as they stand to a sample. */
export function TestBox({ name, rules }: TestBoxProps) {
  const [sample, setSample] = useState(SAMPLE)
  const [document, setDocument] = useState<DocumentName>('inputs')
  const test = useMutation({
    mutationFn: (tried: Parameters<typeof testRedaction>) => testRedaction(...tried),
  })
  return (
    <section aria-labelledby="try" className="flex flex-col gap-2">
      <h3 id="try" className="text-sm font-strong text-strong">
        Try the rules
      </h3>
      <p className="text-muted">JSON, or any other text. Nothing is stored.</p>
      <form
        className="flex flex-col items-start gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          test.mutate([name, { rules, document, ...sampleIn(sample) }])
        }}
      >
        <textarea
          aria-label="Sample"
          spellCheck={false}
          rows={6}
          className="w-full max-w-3xl rounded-md border border-line/60 bg-panel p-2 font-mono text-xs text-strong"
          value={sample}
          onChange={(event) => setSample(event.currentTarget.value)}
        />
        <div className="flex flex-wrap gap-2">
          <Select label="What the sample is" value={document} options={DOCUMENTS} onChange={setDocument} />
          <Button type="submit" disabled={sample === '' || test.isPending}>
            Try
          </Button>
        </div>
      </form>
      {test.error !== null && (
        <p role="alert" className="text-error wrap-anywhere">
          {test.error.message}
        </p>
      )}
      {test.data !== undefined && <Result result={test.data} />}
    </section>
  )
}

function Result({ result: { text, json, hits } }: { result: RedactedSample }) {
  const found = hits.filter((one) => one.hits > 0)
  return (
    <div role="status" className="flex max-w-3xl flex-col gap-2">
      <p className="text-normal">
        {found.length === 0
          ? 'No rule found anything.'
          : `Found by ${found.map(({ rule, hits }) => `${rule}: ${formatCount(hits)}`).join(', ')}.`}
      </p>
      <CodeBlock label="what is stored" code={text ?? JSON.stringify(json, null, 2)} />
    </div>
  )
}

/** What is not JSON is a text. */
function sampleIn(sample: string): { json: Json } | { text: string } {
  try {
    return { json: JSON.parse(sample) as Json }
  } catch {
    return { text: sample }
  }
}
