import { exampleKey } from '../../api/key.ts'
import { CodeBlock, EmptyState } from '../../components/states.tsx'

/** The lines that make a first evaluation. */
export function NoEvaluations({ project }: { project: string }) {
  const { origin } = window.location
  const python = `import asyncio, os
os.environ["WANDB_BASE_URL"] = "${origin}"
os.environ["WANDB_API_KEY"] = "${exampleKey()}"

import weave
weave.init("${project}")

@weave.op
def answer(question: str) -> str:
    return "4"

@weave.op
def right(output: str, expected: str) -> bool:
    return output == expected

rows = [{"question": "2 + 2?", "expected": "4"}, {"question": "3 + 3?", "expected": "6"}]
asyncio.run(weave.Evaluation(dataset=rows, scorers=[right]).evaluate(answer))`
  return (
    <EmptyState title="No evaluations yet">
      <p>
        An evaluation asks a model every row of a dataset and lets scorers judge the answers. This makes one:
      </p>
      <CodeBlock label="the example" code={python} />
      <p>
        The server can run them too:{' '}
        <code className="font-mono text-xs">POST /evaluations/evaluate_model</code> takes the refs of an
        evaluation and a model.
      </p>
    </EmptyState>
  )
}
