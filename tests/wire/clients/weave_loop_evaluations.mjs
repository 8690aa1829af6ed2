/** One evaluation by npm weave, in the given project. Prints its id. */
import * as weave from 'weave'

const project = process.argv[2]
const client = await weave.init(project)

const rows = [
  { question: 'one', wanted: 'ONE' },
  { question: 'two', wanted: '2' },
]
const model = weave.op(async function shouting({ datasetRow }) {
  return datasetRow.question.toUpperCase()
})
const exact = weave.op(({ modelOutput, datasetRow }) => ({ match: modelOutput === datasetRow.wanted }), {
  name: 'exact',
})
const dataset = new weave.Dataset({ name: 'words', rows })
await dataset.save()
await new weave.Evaluation({ name: 'words', dataset, scorers: [exact] }).evaluate({ model })
await client.waitForBatchProcessing()
const [run] = await client.getCalls({ op_names: [`weave:///${project}/op/Evaluation.evaluate:*`] })
process.stdout.write(`${JSON.stringify({ evaluation: run.id })}\n`)
