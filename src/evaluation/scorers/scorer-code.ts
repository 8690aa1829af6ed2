import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { parseShallow } from '../../json/parse-shallow.ts'
import { ColumnMap } from '../../rule-threads/column-map.ts'
import type { Files } from '../../trace/files/service.ts'
import { OP_SOURCE_FILE } from '../../trace/objects/op-value.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { checked } from '../../wire/checked.ts'
import { type Published, readPublished } from '../published.ts'
import type { Scored, Scorer } from './scorer.ts'
import { createScorerProcesses, type ScorerPython } from './scorer-processes.ts'

/** Source code of a scorer; people write a few kB. */
const SOURCE_BYTES_MAX = 1024 * 1024

/** Scorers that are Python code of a client; disposal ends what runs it. */
export interface ScorerCode extends Disposable {
  /** @throws 400 where this server does not run code, or there is none. */
  load(found: Published): Promise<Scorer['score']>
}

/** Refuses all code. */
export const NO_SCORER_CODE: ScorerCode = {
  async load({ name }) {
    throw invalidRequest(
      `${name} is Python code, which this server does not run: HEDDLE_SCORER_CODE=run would allow it`,
    )
  },
  [Symbol.dispose]: () => undefined,
}

const Op = z.looseObject({ files: z.looseObject({ [OP_SOURCE_FILE]: z.string() }) })
const OwnClass = z.looseObject({
  score: z.string(),
  column_map: ColumnMap,
})

const Reply = z.union([z.object({ result: z.unknown() }), z.object({ error: z.string() })])

/** Runs code with `python`, each score in a process of its own. */
export function createScorerCode(deps: {
  python: ScorerPython
  objects: Pick<Objects, 'read'>
  files: Pick<Files, 'read'>
}): ScorerCode {
  const processes = createScorerProcesses(deps.python)

  async function sourceOf({ projectId, name, val }: Published): Promise<string> {
    const digest = checked(Op, val, name).files[OP_SOURCE_FILE]
    const bytes = await deps.files.read({ project_id: projectId, digest }, { bytesMax: SOURCE_BYTES_MAX })
    if (bytes === undefined) throw invalidRequest(`The code of ${name} is not here, or too large`)
    return Buffer.from(bytes).toString('utf8')
  }

  async function runWith(owner: string, code: Code, { output, inputs }: Scored): Promise<unknown> {
    const request = () => JSON.stringify({ ...code, output, inputs })
    const reply = Reply.parse(parseShallow(await processes.ask(owner, request)))
    if ('error' in reply) throw invalidRequest(reply.error)
    return reply.result
  }

  return {
    [Symbol.dispose]: processes[Symbol.dispose],

    async load(found) {
      const { projectId, name, val } = found
      if (found.kind === 'op') {
        const code = { source: await sourceOf(found), name, self: null, column_map: null }
        return (scored) => runWith(projectId, code, scored)
      }
      const { score, column_map = null } = checked(OwnClass, val, name)
      const op = await readPublished(deps.objects, { ref: score, projectId, what: `The code of ${name}` })
      const code = { source: await sourceOf(op), name: op.name.replace(/^.*\./, ''), self: val, column_map }
      return (scored) => runWith(projectId, code, scored)
    },
  }
}

/** The program's input beside the scored call. */
interface Code {
  source: string
  name: string
  self: Record<string, unknown> | null
  column_map: Record<string, string> | null
}
