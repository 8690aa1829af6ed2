/** Uses the client that hey-api made of /openapi.json and put beside this file; prints what it saw as JSON. */
import { createClient } from './client/client/index.ts'
import * as heddle from './client/index.ts'

const [baseUrl = '', key = '', entity = ''] = process.argv.slice(2)
const client = createClient({ baseUrl, auth: key, throwOnError: true })
const project = 'generated-typescript'
const project_id = `${entity}/${project}`
const id = crypto.randomUUID()
const now = new Date().toISOString()

const { data: version } = await heddle.version({ client, throwOnError: true })
await heddle.callsComplete({
  client,
  throwOnError: true,
  path: { entity, project },
  body: {
    batch: [
      {
        project_id,
        id,
        trace_id: crypto.randomUUID(),
        op_name: 'add',
        started_at: now,
        ended_at: now,
        attributes: {},
        inputs: { a: 1 },
        output: 3,
        summary: {},
      },
    ],
  },
})
const { data: read } = await heddle.callRead({ client, throwOnError: true, body: { project_id, id } })
const isAdd: heddle.Operation = { $eq: [{ $getField: 'op_name' }, { $literal: 'add' }] }
const query: heddle.Query = { $expr: { $and: [isAdd, { $not: [{ $or: [{ $not: [isAdd] }] }] }] } }
const { data: stats } = await heddle.callsQueryStats({
  client,
  throwOnError: true,
  body: { project_id, query },
})
const { data: lines } = await heddle.callsQueryStream({
  client,
  throwOnError: true,
  body: { project_id, query },
  parseAs: 'text',
})
const { data: object } = await heddle.objCreate({
  client,
  throwOnError: true,
  body: { obj: { project_id, object_id: 'settings', val: { depth: 1 } } },
})
const { data: objectRead } = await heddle.objRead({
  client,
  throwOnError: true,
  body: { project_id, object_id: 'settings', digest: object.digest },
})
await heddle.feedbackCreate({
  client,
  throwOnError: true,
  body: {
    project_id,
    weave_ref: `weave:///${project_id}/call/${id}`,
    feedback_type: 'wandb.note.1',
    payload: { note: 'good' },
  },
})
const { data: feedback } = await heddle.feedbackQuery({ client, throwOnError: true, body: { project_id } })
const { data: file } = await heddle.fileCreate({
  client,
  throwOnError: true,
  body: { project_id, file: new File(['some bytes'], 'a.txt') },
})
const { data: bytes } = await heddle.fileContent({
  client,
  throwOnError: true,
  body: { project_id, digest: file.digest },
  parseAs: 'blob',
})
const { data: models } = await heddle.listModels({ client, throwOnError: true })
const refused = await heddle.objRead({
  client,
  throwOnError: false,
  body: { project_id, object_id: 'nothing', digest: 'none' },
})

const seen = {
  version: version.version === '' ? 'absent' : 'present',
  read: read.call?.op_name,
  counted: stats.count,
  listed: (JSON.parse(String(lines)) as { id: string }).id === id,
  object: objectRead.obj.val,
  feedback: feedback.result.map(({ payload }) => payload),
  file: await (bytes as unknown as Blob).text(),
  models: models.data.length,
  refused: [refused.response?.status, typeof refused.error],
}
process.stdout.write(`${JSON.stringify(seen)}\n`)
