import { join } from 'node:path'
import { createLog } from '../../log.ts'
import type { ChildSpec } from './child.ts'
import type { Compute } from './port.ts'
import { createTrainer } from './trainer.ts'
import { createVllm } from './vllm.ts'

/** Short, so that a test of a hanging process is over soon. */
const STALL_MS = 1_500

/** Real supervision of processes that only play the engine's part; for tests. */
export function openFakeCompute(folder: string): Compute {
  const log = createLog({ logLevel: 'silent', logFormat: 'json' })
  const spec = (program: string, stdout: ChildSpec['stdout']): ChildSpec => ({
    command: process.execPath,
    args: [join(import.meta.dirname, program)],
    env: {},
    cwd: folder,
    logPath: join(folder, 'engine/logs', `${program}.log`),
    stdout,
  })
  const vllm = spec('fake-vllm.ts', 'log')
  const trainer = createTrainer({
    name: 'trainer test/base',
    log,
    spec: spec('fake-trainer.ts', 'lines'),
    stallMs: STALL_MS,
  })
  const inference = createVllm({
    name: 'inference test/base',
    log,
    spec: (port) => ({ ...vllm, args: [...vllm.args, String(port)] }),
    servedModel: 'test/base',
    stallMs: STALL_MS,
  })
  return {
    unavailable: undefined,
    accelerator: 'cpu',
    loraRankMax: 16,
    trainer: () => trainer,
    inference: () => inference,
    statuses: () => [trainer.status(), inference.status()],
    async [Symbol.asyncDispose]() {
      await Promise.all([trainer[Symbol.asyncDispose](), inference[Symbol.asyncDispose]()])
    },
  }
}
