import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { group } from '../test-group.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const training = useTrainingServer()
const { server, newModel, startJob, events, end } = training

interface Part {
  name: string
  state: string
}

async function trainerState(): Promise<string | undefined> {
  const response = await server.request('/v1/system-check')
  const { engine } = (await response.json()) as { engine: { parts: Part[] } }
  return engine.parts.find(({ name }) => name === 'trainer test/base')?.state
}

it('a job waits for a trainer whose starts fail, with its progress, and so do those behind it', async () => {
  const [model, other] = [await newModel(), await newModel()]
  const noStart = join(training.folder, 'engine/no-start')
  writeFileSync(noStart, '')
  const job = await startJob(model.id, [group('die-once'), group()])
  const next = await startJob(other.id, [group()])
  await eventually(async () => expect(await trainerState()).toBe('failed'))
  expect((await events(next)).data).toEqual([])
  rmSync(noStart)
  const told = (await end(job)).map(({ type }) => type)
  expect(told.filter((type) => type === 'training_resumed')).toHaveLength(1)
  expect(told.at(-1)).toBe('training_ended')
  expect((await end(next)).at(-1)?.type).toBe('training_ended')
  expect(await json(await server.request(`/v1/preview/training-jobs/${job}`))).toMatchObject({ attempts: 2 })
})

it('a job fails at once with what the trainer says where its base model cannot be used at all', async () => {
  const model = await newModel()
  const noStart = join(training.folder, 'engine/no-start')
  writeFileSync(noStart, 'ever')
  const job = await startJob(model.id, [group('die-once')])
  expect((await end(job)).at(-1)).toMatchObject({
    type: 'training_failed',
    data: { error_message: expect.stringContaining('The trainer cannot start: made to fail') },
  })
  rmSync(noStart)
})
