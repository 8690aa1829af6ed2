/**
 * Everything npm weave offers: ops, streams, media, prompts, datasets, evaluations, queries. Prints what it read back.
 */
import { Buffer } from 'node:buffer'
import { createServer } from 'node:http'
import { deflateSync } from 'node:zlib'
import OpenAI from 'openai'
import * as weave from 'weave'

const ROWS = 500

const client = await weave.init('whole/node')

/** The calls of an op, oldest first. */
async function callsOf(name) {
  await client.waitForBatchProcessing()
  return client.getCalls({ op_names: [`weave:///whole/node/op/${name}:*`] })
}

async function ops() {
  const add = weave.op(
    function add(a, b) {
      return a + b
    },
    { parameterNames: ['a', 'b'] },
  )
  const outer = weave.op(
    async function outer(x) {
      return { sum: await add(x, 1), nested: [await add(x, 2)] }
    },
    { callDisplayName: (x) => `outer of ${x}`, parameterNames: ['x'] },
  )
  const fails = weave.op(function fails() {
    throw new TypeError('on purpose')
  })
  const stream = weave.op(
    async function* stream(n) {
      for (let i = 0; i < n; i++) yield i
    },
    {
      streamReducer: {
        initialStateFn: () => [],
        reduceFn: (seen, item) => [...seen, item],
        finalizeFn: () => {},
      },
    },
  )
  const [result, call] = await outer.invoke(3)
  await Promise.resolve(fails()).catch(() => {})
  const streamed = []
  for await (const item of await stream(3)) streamed.push(item)
  await weave.withAttributes({ env: 'node', deep: { list: [1, null] } }, () => add(10, 20))
  await client.waitForBatchProcessing()
  await client.updateCall(call.id, 'renamed')
  const [found] = await callsOf('outer')
  const children = await client.getCalls({ parent_ids: [found.id] })
  const [failed] = await callsOf('fails')
  const [streaming] = await callsOf('stream')
  const marked = (await callsOf('add')).filter((shown) => shown.attributes.env === 'node')
  return {
    result,
    kept: [found.inputs, found.output, found.display_name],
    children: children.map((child) => child.output),
    failed: [failed.exception.includes('on purpose'), failed.summary.weave.status],
    streamed: [streamed, streaming.output],
    attributes: marked.map((shown) => [shown.attributes.deep, shown.output]),
  }
}

/** A small endpoint that only looks like a model: what counts here is what the client's wrapper records. */
async function fakeModel() {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const common = { id: 'chat-1', created: 1, model: 'fake-model' }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (!JSON.parse(body).stream) {
      const message = { role: 'assistant', content: 'Good day' }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const object = 'chat.completion.chunk'
    for (const content of ['Good ', 'day']) {
      const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]
      response.write(`data: ${JSON.stringify({ ...common, object, choices })}\n\n`)
    }
    response.write(`data: ${JSON.stringify({ ...common, object, choices: [], usage })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

async function openai() {
  const server = await fakeModel()
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`
  const models = weave.wrapOpenAI(new OpenAI({ baseURL, apiKey: 'x' }))
  const question = { model: 'fake-model', messages: [{ role: 'user', content: 'Hello' }] }
  const whole = await models.chat.completions.create(question)
  let streamed = ''
  const stream = await models.chat.completions.create({ ...question, stream: true })
  for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? ''
  server.close()
  const calls = await callsOf('openai.chat.completions.create')
  return {
    answers: [whole.choices[0].message.content, streamed],
    kept: calls.map((call) => [call.output.choices[0].message.content, call.summary.usage]),
    inputs: calls.map((call) => call.inputs.messages?.[0].content),
  }
}

function crc(bytes) {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum >>> 0
}

function png(width, height) {
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length, 0)
    frame.writeUInt32BE(crc(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0], 8)
  const pixels = Buffer.alloc((width + 1) * height, 0).map((_, at) =>
    at % (width + 1) === 0 ? 0 : (at * 31) % 256,
  )
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    start,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The bytes of the file in which a value is stored. */
async function fileOf(value, name) {
  const digest = value.files[name]
  const reply = await client.traceServerApi.file.fileContentFileContentPost({
    project_id: 'whole/node',
    digest,
  })
  return Buffer.from(await reply.arrayBuffer())
}

async function media() {
  const image = png(64, 48)
  const sound = Buffer.alloc(30_000).map((_, at) => at % 251)
  const show = weave.op(
    async function show(name) {
      return name === 'image' ? weave.weaveImage({ data: image }) : weave.weaveAudio({ data: sound })
    },
    { parameterNames: ['name'] },
  )
  await show('image')
  await show('audio')
  const [first, second] = await callsOf('show')
  return {
    image: [first.output.weave_type.type, (await fileOf(first.output, 'image.png')).equals(image)],
    audio: [second.output.weave_type.type, (await fileOf(second.output, 'audio.wav')).equals(sound)],
  }
}

async function prompts() {
  const string = await client.publish(new weave.StringPrompt({ name: 'greeting', content: 'Hello, {name}!' }))
  const messages = [{ role: 'system', content: 'You speak {language}.' }]
  const chat = await client.publish(new weave.MessagesPrompt({ name: 'chat', messages }))
  return {
    string: (await weave.StringPrompt.get(client, string.uri())).format({ name: 'Ada' }),
    messages: (await weave.MessagesPrompt.get(client, chat.uri())).format({ language: 'Frisian' }),
    object: await client.get(await client.publish({ nested: { x: [1, 2.5, null, 'ü'] } }, 'settings')),
  }
}

async function evaluations() {
  const rows = Array.from({ length: ROWS }, (_, n) => ({ n, wanted: 3 * n }))
  const dataset = new weave.Dataset({ name: 'numbers', rows })
  const ref = await dataset.save()
  const model = weave.op(async function tripling({ datasetRow }) {
    if (datasetRow.n === 13) throw new Error('unlucky')
    return datasetRow.n * 3
  })
  const exact = weave.op(({ modelOutput, datasetRow }) => modelOutput === datasetRow.wanted, {
    name: 'exact',
  })
  const apart = weave.op(({ modelOutput }) => ({ apart: modelOutput % 2 }), { name: 'apart' })
  const evaluation = new weave.Evaluation({ name: 'triples', dataset, scorers: [exact, apart] })
  const summary = await evaluation.evaluate({ model, maxConcurrency: 20 })
  const [run] = await callsOf('Evaluation.evaluate')
  const children = await client.getCalls({ parent_ids: [run.id] }, false, 2 * ROWS)
  const read = await client.get(ref)
  let sum = 0
  for await (const row of read) sum += row.n
  return {
    summary: { exact: summary.exact, apart: summary.apart, success: summary.model_success },
    kept: JSON.stringify(run.output.exact) === JSON.stringify(summary.exact),
    children: children.filter((child) => child.op_name.includes('predict')).length,
    dataset: [read.length, sum, (await read.getRow(499)).wanted],
  }
}

async function logged() {
  const logger = new weave.EvaluationLogger({
    name: 'by hand',
    dataset: 'digits',
    model: { name: 'handmade' },
    attributes: { env: 'node' },
  })
  for (let n = 0; n < 50; n++) {
    const prediction = logger.logPrediction({ n }, n % 10)
    void prediction.logScore('right', n % 10 === 7)
    void prediction.logScore('distance', Math.abs((n % 10) - 7))
    void prediction.finish()
  }
  await logger.logSummary()
  await client.waitForBatchProcessing()
  const runs = await callsOf('Evaluation.evaluate')
  const run = runs.at(-1)
  const children = await client.getCalls({ parent_ids: [run.id] })
  return {
    output: run.output,
    children: children.filter((child) => child.op_name.includes('predict_and_score')).length,
    scores: children.find((child) => child.inputs.example?.n === 17 || child.inputs.inputs?.n === 17)?.output
      ?.scores,
  }
}

async function scores() {
  const answer = weave.op(async function answer() {
    return 'yes'
  })
  const [, call] = await answer.invoke()
  await client.waitForBatchProcessing()
  const [found] = await callsOf('answer')
  const [scorer] = await callsOf('add')
  const id = await client.addScore(call.id, scorer.id, scorer.op_name, { good: true })
  const reply = await client.traceServerApi.feedback.feedbackQueryFeedbackQueryPost({
    project_id: 'whole/node',
    query: {
      $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: `weave:///whole/node/call/${found.id}` }] },
    },
  })
  const { result } = reply.data
  return {
    ids: result.map((item) => item.id === id),
    kinds: result.map((item) => [item.feedback_type, item.payload]),
  }
}

async function queries() {
  const limited = await client.getCalls({ trace_roots_only: true }, false, 3)
  const read = await client.getCall(limited[0].id)
  let iterated = 0
  for await (const call of client.getCallsIterator({ trace_roots_only: true }, true))
    iterated += call.id ? 1 : 0
  return { limited: limited.length, same: read.id === limited[0].id, more: iterated > 3 }
}

const seen = { ops: await ops(), openai: await openai(), media: await media(), prompts: await prompts() }
Object.assign(seen, { evaluations: await evaluations(), logged: await logged(), scores: await scores() })
console.log(JSON.stringify({ ...seen, queries: await queries() }))
