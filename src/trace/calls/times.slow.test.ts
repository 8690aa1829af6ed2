import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../testing.ts'
import { isoOfMicros } from '../../time.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

/** Times as Python's `datetime.timestamp()` returns them: seconds as doubles. */
const MICROS = Array.from(
  { length: 150 },
  () => 1_700_000_000_000_000 + Math.floor(Math.random() * 1e14),
).sort()

const startedAt = { $getField: 'started_at' }

async function idsWhere(project_id: string, operation: object): Promise<unknown[]> {
  const body = { project_id, columns: ['id'], query: { $expr: operation }, sort_by: byStart }
  return (await documentsOf<Fields>(await server.post('/calls/stream_query', body))).map(({ id }) => id)
}

const byStart = [{ field: 'started_at', direction: 'asc' }]

describe('POST /calls/stream_query with times as numbers', () => {
  it('200: $eq finds the call itself, $gt later ones and $gte both, for any microsecond', async () => {
    const project = server.newProject()
    const calls = MICROS.map((micros) =>
      finishedCall({
        started_at: isoOfMicros(micros),
        ended_at: isoOfMicros(micros),
        inputs: { seconds: micros / 1e6 },
      }),
    )
    await writeCalls(server, project, calls)
    const ids = calls.map(({ id }) => id)
    for (const [index, micros] of MICROS.entries()) {
      const pair = [startedAt, { $literal: micros / 1e6 }]
      expect(await idsWhere(project, { $eq: pair })).toEqual([ids[index]])
      if (index % 10 > 0) continue
      expect(await idsWhere(project, { $gt: pair })).toEqual(ids.slice(index + 1))
      expect(await idsWhere(project, { $gte: pair })).toEqual(ids.slice(index))
      expect(await idsWhere(project, { $lt: pair })).toEqual(ids.slice(0, index))
      const either = MICROS.slice(index, index + 3).map((some) => ({ $literal: some / 1e6 }))
      expect(await idsWhere(project, { $in: [startedAt, either] })).toEqual(ids.slice(index, index + 3))
    }
    const asNumber = { $convert: { input: { $getField: 'inputs.seconds' }, to: 'double' } }
    expect(await idsWhere(project, { $eq: [startedAt, asNumber] })).toEqual(ids)
    const missing = { $convert: { input: { $getField: 'inputs.none' }, to: 'double' } }
    expect(await idsWhere(project, { $eq: [startedAt, missing] })).toEqual([])
  })

  it('200 for numbers beyond all times', async () => {
    const project = server.newProject()
    await writeCalls(server, project, [finishedCall({ inputs: { huge: 1e300, nan: 'NaN' } })])
    expect(await idsWhere(project, { $lt: [startedAt, { $literal: 1e300 }] })).toHaveLength(1)
    expect(await idsWhere(project, { $gt: [startedAt, { $literal: -1e300 }] })).toHaveLength(1)
    const converted = (name: string) => ({
      $convert: { input: { $getField: `inputs.${name}` }, to: 'double' },
    })
    expect(await idsWhere(project, { $lt: [startedAt, converted('huge')] })).toHaveLength(1)
    await idsWhere(project, { $lt: [startedAt, converted('nan')] })
  })
})

describe('POST /feedback/query with times as numbers', () => {
  it('200: $eq finds the row itself', async () => {
    const project_id = server.newProject()
    const weave_ref = `weave:///${project_id}/call/${newId()}`
    for (let index = 0; index < 20; index++) {
      const body = { project_id, weave_ref, feedback_type: 'own', payload: {} }
      const { id, created_at } = await replyOf(await server.post('/feedback/create', body))
      const seconds =
        Number(Date.parse(`${String(created_at).slice(0, 19)}Z`) / 1000) +
        Number(`0${String(created_at).slice(19, 26)}`)
      const $expr = { $eq: [{ $getField: 'created_at' }, { $literal: seconds }] }
      const found = await replyOf(
        await server.post('/feedback/query', { project_id, fields: ['id'], query: { $expr } }),
      )
      expect(found['result']).toEqual([{ id }])
    }
  })
})

describe('POST /otel/v1/traces with nanoseconds', () => {
  it('200 with the nearest microsecond, also for times that are JSON numbers', async () => {
    const project_id = server.newProject()
    const micros = MICROS.slice(0, 50)
    const spans = micros.map((some, index) => ({
      traceId: newId().replaceAll('-', ''),
      spanId: (index + 1).toString(16).padStart(16, '0'),
      name: 'span',
      startTimeUnixNano: some * 1000,
      endTimeUnixNano: `${some}001`,
    }))
    await replyOf(
      await server.request('/otel/v1/traces', {
        method: 'POST',
        headers: { 'content-type': 'application/json', project_id },
        body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] }),
      }),
    )
    const found = await documentsOf<Fields>(
      await server.post('/calls/stream_query', { project_id, sort_by: byStart }),
    )
    expect(found.map(({ started_at }) => started_at)).toEqual(micros.map(isoOfMicros))
    expect(found.map(({ ended_at }) => ended_at)).toEqual(micros.map(isoOfMicros))
  })
})
