import { expect, it } from 'vitest'
import { HANGING_MS } from '../../stores/compute/fake-compute.ts'
import { group } from '../test-group.ts'
import { useTrainingServer } from '../use-training-server.ts'

const { newModel, startJob, end, steps } = useTrainingServer({ stallMs: HANGING_MS })

it('a job whose worker hangs each time fails with a cause, and the next job goes on', async () => {
  const model = await newModel()
  const seen = await end(await startJob(model.id, [group('hang')]))
  const count = (type: string) => seen.filter((event) => event.type === type).length
  expect(count('training_started')).toBe(1)
  expect(count('training_resumed')).toBe(2)
  expect(seen.at(-1)).toMatchObject({
    type: 'training_failed',
    data: { error_message: expect.stringMatching(/it hung: no progress for 1.5 s/) },
  })
  expect((await end(await startJob(model.id, [group()]))).at(-1)?.type).toBe('training_ended')
  expect(await steps(model.id)).toEqual([0, 1])
})
