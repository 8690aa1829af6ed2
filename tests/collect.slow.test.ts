import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from './run-command.ts'

const REPLY = { rows: 2, left_out: [], dataset_ref: 'weave:///a/b/object/d:x', groups: null, job_id: null }

/** What the server was asked, in turn. */
const asked: unknown[] = []
const server = createServer(async (request, response) => {
  asked.push(await json(request))
  response.end(JSON.stringify(REPLY))
})
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.close()
})

function urlOfServer(): string {
  // A server that listens at a port has an address of that kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function collect(...args: string[]) {
  const where = ['--url', urlOfServer(), '--project', 'a/b', '--name', 'd']
  return runCommand('collect.ts', [...where, ...args])
}

describe('npm run collect', () => {
  it.each([
    [
      ['--into', 'sft', '--watch', '--learning-rate', '1', '--batch-size', '3', '--config', '{}'],
      [
        'learning-rate needs --train',
        'batch-size needs --train',
        'config needs --train',
        'watch needs --train',
      ],
    ],
    [
      ['--into', 'sft', '--queue', 'q', '--annotator', 'u', '--evaluation', 'e'],
      ['queue needs --from queue', 'annotator needs --from queue', 'evaluation needs --from evaluation'],
    ],
    [
      ['--into', 'sft', '--from', 'queue', '--queue', 'q', '--op', 'o', '--limit', '1'],
      ['op needs --from calls', 'limit needs --from calls'],
    ],
    [
      ['--into', 'dataset', '--train', 'm', '--group-by', 'inputs.x'],
      ['group-by needs --into groups', 'train needs --into sft or groups'],
    ],
    [
      ['--into', 'groups', '--column', 'a=inputs.a', '--train', 'm', '--batch-size', '2'],
      ['column needs --into dataset', 'batch-size needs --into sft'],
    ],
    [['--into', 'sft', '--system', 'Be short'], ['system needs --prompt and --answer']],
    [
      ['--into', 'sft', '--op', 'x', '--filter', '{"op_names":["y"]}'],
      ['op is op_names of --filter: give one of them'],
    ],
    [
      ['--into', 'sft', '--train', 'm', '--batch-size', '1', '--config', '{"batch_size":2}'],
      ['batch-size is batch_size of --config: give one of them'],
    ],
  ])('1 for %j, of which some would not be read', async (args, missing) => {
    const before = asked.length
    const { code, out, err } = await collect(...args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    for (const line of missing) expect(err).toContain(`--${line}\n`)
    expect(err.trim().split('\n')).toHaveLength(missing.length)
    expect(asked).toHaveLength(before)
  })

  it.each([
    [
      ['--from', 'queue', '--queue', 'q', '--annotator', 'u', '--into', 'sft'],
      { from: { annotation_queue: { queue_id: 'q', annotator: 'u' } }, into: { sft: { name: 'd' } } },
    ],
    [
      ['--into', 'sft', '--train', 'm', '--batch-size', '3', '--watch', '--op', 'o', '--limit', '5'],
      {
        from: { calls: { filter: { op_names: ['o', 'weave:///a/b/op/o:*'] }, limit: 5 } },
        into: { sft: { name: 'd', train: { model: 'm', config: { batch_size: 3 } } } },
      },
    ],
  ])('0 for %j, all of which the server is asked', async (args, body) => {
    const { code, out } = await collect(...args)
    expect({ code, out }).toEqual({ code: 0, out: `Collected 2 rows into ${REPLY.dataset_ref}\n` })
    expect(asked.at(-1)).toEqual(body)
  })

  it.each([
    [['--into', 'sft', '--watch'], '--watch needs --train'],
    [['--nonsense'], "Unknown option '--nonsense'"],
  ])('1 for %j, as JSON where that was asked for', async (args, message) => {
    const { code, out, err } = await collect('--json', ...args)
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(JSON.parse(out)).toEqual({ error: expect.stringContaining(message) })
  })

  it('ends without an error where its output is closed', async () => {
    const script = join(resolve(import.meta.dirname, '../scripts'), 'collect.ts')
    const child = spawn(process.execPath, [script, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += String(chunk)
    })
    const [code] = await once(child, 'close')
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})
