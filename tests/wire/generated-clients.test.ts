import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from './client-program.ts'
import { KEY, runClient, startServer, type WireServer } from './server.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const BIN = join(ROOT, 'node_modules/.bin')
const run = promisify(execFile)

let server: WireServer
let folder: string

beforeAll(async () => {
  server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
  folder = await mkdtemp(join(tmpdir(), 'heddle-generated-'))
  await cp(clientProgram('generated'), folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const SEEN = {
  version: 'present',
  read: 'add',
  counted: 1,
  listed: true,
  object: { depth: 1 },
  feedback: [{ note: 'good' }],
  file: 'some bytes',
  models: 0,
}

describe('clients generated from /openapi.json', () => {
  it('in TypeScript compile strictly and work', async () => {
    await createClient({
      input: `${server.url}/openapi.json`,
      output: { path: join(folder, 'client'), module: { extension: '.ts' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    })
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'esnext']
    const modules = ['--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node']
    await run(join(BIN, 'tsc'), [...options, ...modules, join(folder, 'operations.ts')], { cwd: folder })
    const program = [join(BIN, 'node'), join(folder, 'operations.ts'), server.url, KEY, 'team']
    expect(await runClient(program, {})).toEqual({ ...SEEN, refused: [404, 'object'] })
  })

  it('in Python work, with every operation', async () => {
    const python = pythonIn('generators')
    const generator = join(dirname(python), 'openapi-python-client')
    const PATH = [dirname(python), process.env['PATH']].join(delimiter)
    const output = ['--output-path', join(folder, 'client'), '--overwrite', '--meta', 'none']
    const { stdout, stderr } = await run(
      generator,
      ['generate', '--url', `${server.url}/openapi.json`, ...output],
      { env: { ...process.env, PATH } },
    )
    expect(`${stdout}${stderr}`).not.toContain('Endpoint will not be generated')
    const program = [python, join(folder, 'operations.py'), server.url, KEY, 'team']
    expect(await runClient(program, {})).toEqual({ ...SEEN, refused: [404, 'TraceError'] })
  })
})
