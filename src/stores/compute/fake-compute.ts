import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NO_TELEMETRY } from '../../telemetry.ts'
import { SILENT } from '../../test-log.ts'
import type { ChildSpec } from '../processes/child.ts'
import { createLogFolder, engineLogsFolder } from '../processes/log-folder.ts'
import { childPrograms } from './child-programs.ts'
import { type ComputeOptions, openCompute } from './compute.ts'
import { GB } from './memory-estimate.ts'
import type { Compute } from './port.ts'

/** So that no process counts as hanging because the machine is busy. */
const STALL_MS = 60_000

/** Short, for tests of processes that hang. */
export const HANGING_MS = 1_500

/** Real supervision of processes that only simulate the engine; for tests. */
export function openFakeCompute(folder: string, options: Partial<ComputeOptions> = {}): Compute {
  const workspaceFolder = join(folder, 'engine')
  mkdirSync(workspaceFolder, { recursive: true })
  const logs = createLogFolder(engineLogsFolder(folder))
  const spec = (program: string, stdout: ChildSpec['stdout'], args: string[]): ChildSpec => ({
    ...fakeProgram(program, args),
    cwd: folder,
    logs,
    logName: `${program}.log`,
    stdout,
  })
  return openCompute({
    log: SILENT,
    telemetry: NO_TELEMETRY,
    priorityScheduling: false,
    mmProcessorKwargs: false,
    findBaseModel: async (baseModel: string) =>
      baseModel.startsWith('missing/')
        ? { isThere: false, reason: 'made to be missing', known: ['test/base', 'other/base'] }
        : { isThere: true },
    maxNumSeqs: 128,
    loraRankMax: 16,
    defaultBaseModel: 'test/base',
    programs: childPrograms(
      {
        missing: undefined,
        trainer: () => spec('fake-trainer.ts', 'lines', []),
        inference: (baseModel, port, key) => spec('fake-vllm.ts', 'log', [String(port), baseModel, key]),
      },
      workspaceFolder,
    ),
    memory: {
      budgetBytes: 100 * GB,
      trainersApart: false,
      inferenceBytes: () => 2 * GB,
      trainerBytes: () => GB,
      reserveAsleep: () => () => {},
      measure: async () => {},
    },
    idleMs: 0,
    stallMs: STALL_MS,
    workspaceRoot: workspaceFolder,
    remote: undefined,
    ...options,
  })
}

/** How to run one of the programs beside this file. */
export function fakeProgram(program: string, args: string[]) {
  return { command: process.execPath, args: [join(import.meta.dirname, program), ...args], env: {} }
}
