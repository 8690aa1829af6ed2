import { expect, it, vi } from 'vitest'
import { StoreFailed } from '../../errors.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { group } from '../test-group.ts'
import { useTrainingServer } from '../use-training-server.ts'

const { server, newModel, startJob, end } = useTrainingServer()

it('a job goes on after an outage of the database, and reports every step once', async () => {
  const { control } = server.stores
  const model = await newModel()
  const steps = (db: ControlDb) =>
    db.selectFrom('training_job_events').select('id').where('type', '=', 'gradient_step').execute()
  const before = (await steps(control)).length
  const begin = control.transaction.bind(control)
  let isAway = true
  using _outage = vi.spyOn(control, 'transaction').mockImplementation(() => {
    const begun = begin()
    const execute = begun.execute.bind(begun)
    begun.execute = (work) =>
      execute(async (tx) => {
        const result = await work(tx)
        if (isAway && (await steps(tx)).length > before + 1) {
          isAway = false
          throw new StoreFailed('The database is away', undefined)
        }
        return result
      })
    return begun
  })
  const seen = await end(await startJob(model.id, [group(), group()]))
  expect(seen.map(({ type, data }) => [type, data])).toEqual([
    ['training_started', { num_sequences: 2 }],
    ['gradient_step', { loss: 1 }],
    ['training_resumed', { reason: 'The database is away' }],
    ['gradient_step', { loss: 0.5 }],
    ['training_ended', {}],
  ])
})
