import { type Compute, EngineProcessLost } from './port.ts'

/**
 * Compute without an engine.
 * @param reason why there is none, and what to do about it
 */
export function unavailableCompute(
  reason: string,
  { loraRankMax, retryAfterSeconds }: { loraRankMax: number; retryAfterSeconds?: number },
): Compute {
  const refuse = (): never => {
    throw new EngineProcessLost(reason, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
  }
  return {
    unavailable: { reason, retryAfterSeconds },
    untilAvailable: (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    priorityScheduling: false,
    mmProcessorKwargs: false,
    loraRankMax,
    findBaseModel: async () => ({ isThere: true }),
    trainer: refuse,
    inference: refuse,
    statuses: () => [],
    memory: () => ({ budget_bytes: 0, used_bytes: 0 }),
    async [Symbol.asyncDispose]() {},
  }
}
