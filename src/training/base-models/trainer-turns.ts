import { unavailable } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Compute, Trainer } from '../../stores/compute/port.ts'
import { WorkerMessage, type WorkerRequest } from '../jobs/contract-wire.ts'

/** What one side wants of a worker, and the answer that ends it. */
type Answer = Extract<WorkerMessage, { kind: 'adapter_created' | 'adapter_merged' }>
type Wanted = Extract<WorkerRequest, { request_id: string }>
type WithoutId<Request> = Request extends unknown ? Omit<Request, 'request_id'> : never

/** Shares the worker of each base model among those who want it. */
export function createTrainerTurns(compute: Compute) {
  const turns = new Map<string, Promise<unknown>>()

  /** A worker does one thing at a time; what wants it waits for its turn. */
  function withTrainer<Result>(
    baseModel: string,
    work: (trainer: Trainer) => Promise<Result>,
  ): Promise<Result> {
    const before = turns.get(baseModel) ?? Promise.resolve()
    const turn = before.then(() => work(compute.trainer(baseModel)))
    const ended = turn
      .catch(() => {})
      .finally(() => {
        if (turns.get(baseModel) === ended) turns.delete(baseModel)
      })
    turns.set(baseModel, ended)
    return turn
  }

  /** Has the worker do a small piece of work. @throws 503 with its reason when it can't. */
  function ask(baseModel: string, wanted: WithoutId<Wanted>): Promise<Answer> {
    const request = { ...wanted, request_id: newId() } as Wanted
    return withTrainer(baseModel, async (trainer) => {
      for await (const raw of trainer.run(request, { whenFull: 'refuse' }, new AbortController().signal)) {
        const message = WorkerMessage.parse(raw)
        // What is left of a job that was cancelled carries another id.
        if (!('request_id' in message) || message.request_id !== request.request_id) continue
        if (message.kind === 'request_failed') throw unavailable(message.error_message)
        return message
      }
      throw unavailable('The worker ended without an answer')
    })
  }

  return { withTrainer, ask }
}
