import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pLimit from 'p-limit'
import { z } from 'zod'
import { checked } from '../../checked.ts'
import { dependencyFailed, invalidRequest, messageOf } from '../../errors.ts'
import type { Files } from '../../trace/files/service.ts'
import { OP_SOURCE_FILE } from '../../trace/objects/op-value.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { type Published, readPublished } from '../published.ts'
import type { Scored, Scorer } from './scorer.ts'

const PROGRAM = join(import.meta.dirname, '../../../engine/src/scorer_code.py')

/** Source code of a scorer; people write a few kB. */
const SOURCE_BYTES_MAX = 1024 * 1024

/** Processes at once; each may take 2 GiB of memory. */
const PROCESSES_MAX = 2

/** A scorer that takes longer is ended; the process has 30 s of a core of its own. */
const SECONDS_MAX = 60

/** What a scorer may say. */
const ANSWER_CHARS_MAX = 4 * 1024 * 1024

/** Scorers that are Python code of a client. */
export interface ScorerCode {
  /** @throws 400 where this server does not run code, or there is none. */
  load(found: Published): Promise<Scorer>
}

/** Refuses all code. */
export const NO_SCORER_CODE: ScorerCode = {
  async load({ name }) {
    throw invalidRequest(
      `${name} is Python code, which this server does not run: whoever owns it can allow that with HEDDLE_SCORER_CODE=run`,
    )
  },
}

const Op = z.looseObject({ files: z.looseObject({ [OP_SOURCE_FILE]: z.string() }) })
const OwnClass = z.looseObject({
  _class_name: z.string(),
  name: z.string().nullish(),
  score: z.string(),
  column_map: z.record(z.string(), z.string()).nullish(),
})

const Reply = z.union([z.object({ result: z.unknown() }), z.object({ error: z.string() })])

/** Runs code with `python`, each score in a process of its own. */
export function createScorerCode(deps: {
  python: string
  objects: Pick<Objects, 'read'>
  files: Pick<Files, 'read'>
}): ScorerCode {
  const turns = pLimit(PROCESSES_MAX)

  async function sourceOf({ projectId, name, val }: Published): Promise<string> {
    const digest = checked(Op, val, name).files[OP_SOURCE_FILE]
    const bytes = await deps.files.read({ project_id: projectId, digest }, { bytesMax: SOURCE_BYTES_MAX })
    if (bytes === undefined) throw invalidRequest(`The code of ${name} is not here, or too large`)
    return Buffer.from(bytes).toString('utf8')
  }

  async function runWith(code: Code, { output, inputs }: Scored): Promise<unknown> {
    const reply = await turns(() => run(deps.python, JSON.stringify({ ...code, output, inputs })))
    if ('error' in reply) throw invalidRequest(reply.error)
    return reply.result
  }

  return {
    async load(found) {
      if (found.kind === 'op') {
        const code = { source: await sourceOf(found), name: found.name, self: null, column_map: null }
        return {
          name: found.name,
          ref: found.ref,
          opName: found.name,
          score: (scored) => runWith(code, scored),
        }
      }
      const { projectId, val } = found
      const own = checked(OwnClass, val, found.name)
      const op = await readPublished(deps.objects, {
        ref: own.score,
        projectId,
        what: `The code of ${found.name}`,
      })
      const { column_map = null } = own
      const code = { source: await sourceOf(op), name: op.name.replace(/^.*\./, ''), self: val, column_map }
      const name = own.name ?? own._class_name
      return { name, ref: found.ref, opName: op.name, score: (scored) => runWith(code, scored) }
    },
  }
}

/** What the program is sent, beside what is scored. */
interface Code {
  source: string
  name: string
  self: Record<string, unknown> | null
  column_map: Record<string, string> | null
}

/** @throws 400 for code that does not answer in time, or with too much. */
async function run(python: string, request: string): Promise<z.output<typeof Reply>> {
  const child = spawn(python, ['-I', PROGRAM], {
    cwd: tmpdir(),
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: SECONDS_MAX * 1000,
    killSignal: 'SIGKILL',
  })
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) =>
      reject(dependencyFailed(`Python did not start: ${messageOf(error)}`, error)),
    )
  })
  // A program that ends without reading is told by its answer.
  child.stdin.on('error', () => undefined)
  child.stdin.end(request)
  let length = 0
  child.stdout.on('data', (bytes: Buffer) => {
    length += bytes.length
    if (length > ANSWER_CHARS_MAX) child.kill('SIGKILL')
  })
  const answer = await Promise.race([text(child.stdout), failed])
  try {
    return Reply.parse(JSON.parse(answer))
  } catch {
    throw invalidRequest(
      `The code did not answer: it may take ${SECONDS_MAX} s, 2 GiB of memory and ${ANSWER_CHARS_MAX} characters`,
    )
  }
}
