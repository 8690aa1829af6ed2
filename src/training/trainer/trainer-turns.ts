import { invalidRequest, unavailable } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { inOrderByKey } from '../../in-order.ts'
import type { Compute, Trainer } from '../../stores/compute/port.ts'
import { WorkerMessage, type WorkerRequest } from './contract-wire.ts'

/** A request for a worker, and the kind of message that ends it. */
type Answer = Extract<WorkerMessage, { kind: 'adapter_created' | 'adapter_merged' }>
type Wanted = Extract<WorkerRequest, { request_id: string; output_dir: string }>
type Failure = Extract<WorkerMessage, { kind: 'request_failed' }>
type WithoutId<Request> = Request extends unknown ? Omit<Request, 'request_id'> : never

/** Shares the worker of each base model among its callers. */
export interface TrainerTurns {
  /** A worker handles one request at a time; others wait. */
  withTrainer<Result>(baseModel: string, work: (trainer: Trainer) => Promise<Result>): Promise<Result>
  /** Has the worker handle a short request. @throws 400 for a field that it refuses; 503 with its reason on failure. */
  ask(baseModel: string, wanted: WithoutId<Wanted>): Promise<Answer>
}

export function createTrainerTurns(compute: Compute): TrainerTurns {
  const inOrder = inOrderByKey()

  function withTrainer<Result>(
    baseModel: string,
    work: (trainer: Trainer) => Promise<Result>,
  ): Promise<Result> {
    return inOrder(baseModel, () => work(compute.trainer(baseModel)))
  }

  function ask(baseModel: string, wanted: WithoutId<Wanted>): Promise<Answer> {
    const request = { ...wanted, request_id: newId() } as Wanted
    return withTrainer(baseModel, async (trainer) => {
      for await (const raw of trainer.run(request, { whenFull: 'refuse' }, new AbortController().signal)) {
        const message = WorkerMessage.parse(raw)
        // The remaining messages of a cancelled job carry another id.
        if (!('request_id' in message) || message.request_id !== request.request_id) continue
        if (message.kind === 'request_failed') throw failureOf(message)
        if (message.kind === 'adapter_created' || message.kind === 'adapter_merged') return message
      }
      throw unavailable('The worker ended without an answer')
    })
  }

  return { withTrainer, ask }
}

function failureOf({ error_message, error_field }: Failure): Error {
  return error_field === null ? unavailable(error_message) : invalidRequest(error_message, error_field)
}
