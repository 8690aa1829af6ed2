import { type ChildSpec, startChild } from '../processes/child.ts'
import { freePort } from '../processes/free-port.ts'
import type { Program, Programs } from './program.ts'

/** The engine's programs for a base model on this machine. */
export interface ChildSpecs {
  /** As {@link Programs.missing}. */
  readonly missing: string | undefined
  trainer(baseModel: string): Omit<ChildSpec, 'cwd'>
  inference(baseModel: string, port: number, key: string): ChildSpec
}

/** Programs that are child processes of this server. */
export function childPrograms(specs: ChildSpecs, workspaceFolder: string): Programs {
  return {
    get missing() {
      return specs.missing
    },
    trainer: (baseModel) => async () => ({
      program: start({ ...specs.trainer(baseModel), cwd: workspaceFolder }),
    }),
    inference: (baseModel, key) => async () => {
      // vLLM exits if another program took it meanwhile.
      const port = await freePort()
      return { program: start(specs.inference(baseModel, port, key)), url: `http://127.0.0.1:${port}` }
    },
  }
}

function start(spec: ChildSpec): Program {
  const { pid, ...child } = startChild(spec)
  return { ...child, place: `process ${pid}` }
}
