/** Common uses of npm weave: ops, objects, a dataset, an evaluation, feedback, queries. Prints the results. */

// The package under test: another version may be installed under another name.
const weave = await import(process.env.WEAVE_PACKAGE ?? 'weave')

const client = await weave.init('wire/node')
const add = weave.op(function add(a, b) {
  return a + b
})
const outer = weave.op(async function outer(x) {
  return { v: await add(x, 1), u: await add(x, 2) }
})
const fails = weave.op(function fails() {
  throw new Error('on purpose')
})

await outer(3)
await Promise.resolve()
  .then(() => fails())
  .catch(() => undefined)

const dataset = new weave.Dataset({
  name: 'questions',
  rows: [
    { q: 'a', n: 1 },
    { q: 'bb', n: 3 },
  ],
})
await dataset.save()
const model = weave.op(async function model({ datasetRow }) {
  return datasetRow.q.length
})
const right = weave.op(function right({ modelOutput, datasetRow }) {
  return modelOutput === datasetRow.n
})
const evaluation = new weave.Evaluation({ dataset, scorers: [right] })
const summary = await evaluation.evaluate({ model })
const rows = []
for await (const row of dataset) rows.push({ q: row.q, n: row.n })

await client.waitForBatchProcessing()
const calls = await client.getCalls({ trace_roots_only: true })
console.log(
  JSON.stringify({
    rows,
    summary: summary.right,
    roots: calls.map((call) => (call.op_name.match(/\/op\/([^:]+)/) ?? [null, call.op_name])[1]).sort(),
    errors: calls.filter((call) => call.exception).length,
  }),
)
