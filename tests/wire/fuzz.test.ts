import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { startServer, type WireServer } from './server.ts'

/*
 * Requests that the API's own description allows and forbids: no reply may be a 500, hang, or have another status or
 * shape than described. `HEDDLE_FUZZ_SEED=2 HEDDLE_FUZZ_EXAMPLES=200 HEDDLE_FUZZ_PHASES=coverage,fuzzing npm run
 * test:wire fuzz` looks further.
 */

const SEED = process.env['HEDDLE_FUZZ_SEED'] ?? '7'
/** Requests of each operation. */
const EXAMPLES = process.env['HEDDLE_FUZZ_EXAMPLES'] ?? '8'
const PHASES = process.env['HEDDLE_FUZZ_PHASES'] ?? 'fuzzing'

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

/** 501 is a part of the wire that the server does not implement, and 503 an engine that is not there. */
const SETTINGS = `
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "501", "503"]
`

/** They would take away the fuzzer's own key: the list of keys, users and teams tells it what there is. */
const OF_ITS_ACCOUNT = [
  'revoke_key',
  'change_user',
  'erase_user',
  'erase_entity',
  'remove_member',
  'set_member',
]

/** Otherwise the fuzzer fails where it takes long to make requests up, as it does on a busy machine. */
const HEALTH_CHECKS = ['--suppress-health-check', 'too_slow']

/** Seconds after which a request counts as one that hangs. */
const REQUEST_SECONDS = '60'

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const REPORT_CHARS_MAX = 20_000

const run = promisify(execFile)

let server: WireServer
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-fuzz-'))
  await writeFile(join(folder, 'schemathesis.toml'), SETTINGS)
  server = await startServer(
    { HEDDLE_AUTH: 'keys', HEDDLE_CACHE: '/nonexistent/cache' },
    { teams: ['looms'] },
  )
  await server.makeOperator('local')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** What the fuzzer found; undefined for nothing. */
async function fuzz(schema: string, options: readonly string[]): Promise<string | undefined> {
  const program = join(dirname(pythonIn('fuzzer')), 'schemathesis')
  const same = ['--seed', SEED, '--max-examples', EXAMPLES, '--phases', PHASES, '--continue-on-failure']
  const quiet = [
    '--no-color',
    '--warnings',
    'off',
    '--generation-database',
    'none',
    '--output-truncate',
    'true',
  ]
  const sent = ['--request-timeout', REQUEST_SECONDS, '-H', `Authorization: Bearer ${server.key}`]
  const args = ['run', server.url + schema, ...same, ...HEALTH_CHECKS, ...quiet, ...sent, ...options]
  try {
    const env = { ...process.env, SCHEMATHESIS_HOOKS: 'fuzz_graphql', PYTHONPATH: clientProgram('') }
    await run(program, args, { cwd: folder, env, maxBuffer: OUTPUT_BYTES_MAX })
    return undefined
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return `${stdout}\n${stderr}`.slice(-REPORT_CHARS_MAX)
  }
}

describe('requests made from the descriptions of the API', () => {
  it('are answered as /openapi.json says', async () => {
    const left = OF_ITS_ACCOUNT.flatMap((id) => ['--exclude-operation-id', id])
    expect(await fuzz('/openapi.json', ['--checks', CHECKS.join(','), ...left])).toBeUndefined()
  })

  // Every error of GraphQL counts as one of the server there, such as that of an unknown id; the last test tells them
  // apart.
  it('of GraphQL are answered', async () => {
    expect(await fuzz('/graphql', ['--checks', 'is_graphql'])).toBeUndefined()
  })

  it('leave a server that works, and has logged no error', async () => {
    await expect.poll(async () => (await fetch(`${server.url}/health`)).status).toBe(200)
    expect(server.log().match(/.*"level":[56]0.*/g)).toBeNull()
  })
})
