import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, mkdtempDisposable, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentChecks } from '../scripts/heddle/doctor/environment-checks.ts'
import { ROOT } from '../scripts/repository.ts'
import { readConfig } from '../src/config.ts'
import { openDataFolder } from '../src/stores/data-folder.ts'
import { startServer } from './backup/server-process.ts'
import { heddle } from './run-command.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-command-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const LINK = 'http://127.0.0.1:6060/sign-in#TOKEN'
const HEDDLE = resolve(import.meta.dirname, '../scripts/heddle.mjs')

const COMMANDS = ['serve', 'backup', 'restore', 'move', 'doctor', 'version']
const GROUPS = ['keys', 'users', 'teams']

describe('heddle', () => {
  it('0 with help that lists the commands', async () => {
    const { code, out } = await heddle(['--help'])
    expect(code).toBe(0)
    for (const name of [...COMMANDS, ...GROUPS]) expect(out).toContain(`  ${name} `)
  })

  it.each(COMMANDS)('0 for %s --help, with examples', async (name) => {
    const { code, out } = await heddle([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: heddle ${name}`)
    expect(out).toContain('Examples:')
  })

  it.each(GROUPS)('0 for %s --help, with its commands', async (name) => {
    const { code, out } = await heddle([name, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`Usage: heddle ${name}`)
    expect(out).toContain('  list ')
  })

  it.each([
    [['frob'], "unknown command 'frob'"],
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['serve', '--port', 'high'], 'from 0 to 65535'],
    [['serve', '--role', 'leader'], 'all, api, worker'],
    [['backup'], "missing required argument 'target'"],
    [['restore', 'x'], "option '--data <folder>' not specified, and HEDDLE_DATA is not set"],
    [['version', 'extra'], 'too many arguments'],
    [['keys', 'create', 'x', '--days', '30x'], 'from 1 to 3650'],
    [['keys', 'create', 'x', '--days', 'Infinity'], 'from 1 to 3650'],
    [['keys', 'create', 'x', '--days', '0'], 'from 1 to 3650'],
    [['keys', 'create', 'x', '--days', '3651'], 'from 1 to 3650'],
    [['keys', 'create', 'x', '--link', 'nonsense'], 'It is a link such as http'],
    [['keys', 'create', 'x', '--link', LINK, '--url', 'http://a'], "cannot be used with option '--url"],
    [['keys', 'create', 'x', '--link', LINK, '--key', 'a'], "cannot be used with option '--key"],
    [['keys', 'create', 'x', '--link', LINK, '--data', 'a'], "cannot be used with option '--data"],
    [['keys', 'list', '--url', '127.0.0.1:9400'], 'with http:// or https://'],
    [['keys', 'list', '--url', 'http://'], 'with http:// or https://'],
    [['keys', 'list', '--key', 'schlüssel'], 'letters and digits of ASCII'],
    [['users', 'list', '--url', 'http://a', '--data', 'b'], "cannot be used with option '--data"],
    [['move', '--forget', '--to', 'x'], "cannot be used with option '--to"],
    [['move', '--to', ''], 'It is empty'],
    [['move'], "neither option '--to <place>' nor option '--forget' specified"],
    [['backup', ''], 'It is empty'],
    [['restore', '', '--data', 'x'], 'It is empty'],
    [['doctor', '--data', ''], 'It is empty'],
  ])('2 for %j', async (args, message) => {
    const { code, err } = await heddle(args)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it.each([
    [['frob', '--json'], "unknown command 'frob'"],
    [['keys', 'list', '--all', '--json'], "unknown option '--all'"],
    [['keys', 'create', 'x', '--days', '30x', '--json'], 'from 1 to 3650'],
  ])('2 for %j, with the reason as JSON too', async (args, message) => {
    const { code, out, err } = await heddle(args)
    expect(code).toBe(2)
    expect(JSON.parse(out)).toEqual({ error: expect.stringContaining(message) })
    expect(err).toContain(message)
  })

  it('1 with text for an argument that is called as the option is', async () => {
    const { code, out, err } = await heddle(['backup', '--data', 'none', '--', '--json'], folder)
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('is no data folder')
  })

  it('0 for a reader that has gone, with no word of it', async () => {
    const line = `set -o pipefail; { sleep 0.1; "${process.execPath}" "${HEDDLE}" version; } | true`
    expect(await promisify(execFile)('bash', ['-c', line])).toEqual({ stdout: '', stderr: '' })
  })

  it('0 with the versions, from any directory', async () => {
    const { code, out } = await heddle(['version', '--json'], folder)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ heddle: expect.any(String), node: process.versions.node })
  })

  it('1 for a role of a server that is the only one', async () => {
    const { code, err } = await heddle(['serve', '--role', 'api', '--data', folder])
    expect(code).toBe(1)
    expect(err).toContain('HEDDLE_ROLE: needs HEDDLE_SERVERS=several')
  })

  it('1 for a backup of what is no data folder, as JSON where that was asked for', async () => {
    const { code, out } = await heddle(['backup', 'b', '--data', 'none', '--json'], folder)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({ error: expect.stringContaining('is no data folder') })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('heddle backup', () => {
  it('1 while another one of the folder runs, which it says', async () => {
    await using data = await mkdtempDisposable(join(tmpdir(), 'heddle-held-'))
    using _held = openDataFolder(data.path, 'backup')
    const { code, err } = await heddle(['backup', join(folder, 'second'), '--data', data.path])
    expect(code).toBe(1)
    expect(err).toContain('a backup, started')
    expect(err).toContain('wait until the backup has ended')
  })
})

describe('heddle move', () => {
  it.each([['--forget'], ['--to', 'elsewhere']])('1 for %s of what is no data folder', async (...options) => {
    const { code, err } = await heddle(['move', ...options, '--data', 'none'], folder)
    expect(code).toBe(1)
    expect(err).toContain('is no data folder')
    expect(await readdir(folder)).toEqual([])
  })

  it.each(['later.env', '.env'])('1 for settings in %s, which does not exist', async (file) => {
    const { code, err } = await heddle(['move', '--to', file, '--data', 'none'], folder)
    expect(code).toBe(1)
    expect(err).toContain(`The file of settings does not exist: ${join(folder, file)}`)
    expect(await readdir(folder)).toEqual([])
  })

  it.each([
    ['HEDDLE_LOG=warn\n\n# a comment\ngarbage line\n', 4],
    ['A="two\nlines"\nB=1 # one\nHEDDLE_S3_URL: s3://files\n', 4],
    ["export A='x'\r\n = 1\n", 2],
  ])('1 for settings with a line that is none: %j', async (text, line) => {
    const file = join(folder, 'garbage.env')
    await writeFile(file, text)
    const { code, err } = await heddle(['move', '--to', file, '--data', 'none'], folder)
    expect(code).toBe(1)
    expect(err).toContain(`Line ${line} of ${file} is no setting`)
    await rm(file)
  })

  it('1 for settings that are all understood, and move nothing', async () => {
    const file = join(folder, 'fine.env')
    await writeFile(file, '# all\n\n  A = 1\r\nexport B="x\ny" # z\nC=\nD=\'it\'s\'\nE=`a`\nF="open\n')
    const { err } = await heddle(['move', '--to', file, '--data', 'none'], folder)
    expect(err).toContain('All stores are where they are')
    await rm(file)
  })

  it('1 for settings of credentials that differ from the environment', async () => {
    const file = join(folder, 'other.env')
    await writeFile(file, 'AWS_ACCESS_KEY_ID=one\n')
    const { code, err } = await heddle(['move', '--to', file, '--data', 'none'], folder, {
      AWS_ACCESS_KEY_ID: 'two',
    })
    expect(code).toBe(1)
    expect(err).toContain('AWS_ACCESS_KEY_ID differs')
    await rm(file)
  })

  it.each(['HEDDLE_LOG=warn\n', 'HEDDLE_DATA=\n'])(
    '1 for settings that move nothing, since the data folder stays: %j',
    async (text) => {
      const file = join(folder, 'same.env')
      await writeFile(file, text)
      const { code, err } = await heddle(['move', '--to', file, '--data', 'none'], folder)
      expect(code).toBe(1)
      expect(err).toContain('All stores are where they are')
      await rm(file)
    },
  )

  it('0 for moves to forget where there are none', async () => {
    const data = join(folder, 'data')
    await using server = await startServer(data)
    await server.stop('SIGTERM')
    expect(await heddle(['move', '--forget', '--data', data])).toMatchObject({
      code: 0,
      out: 'Forgot 0 moves.\n',
    })
    await rm(data, { recursive: true })
  })
})

describe('heddle doctor', () => {
  it('names each check, and makes no data folder', async () => {
    const { out } = await heddle(['doctor', '--data', 'none', '--json'], folder)
    const { checks } = JSON.parse(out) as { checks: { name: string; status: string }[] }
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['configuration', 'ClickHouse', 'data folder', 'migrations', 'port', 'server']),
    )
    expect(checks.find(({ name }) => name === 'ClickHouse')).toMatchObject({ status: 'ok' })
    expect(await readdir(folder)).toEqual([])
  })

  it('gpu calculates what fits, and names a model that it cannot read', async () => {
    const { code, out } = await heddle(['doctor', 'gpu', '--gpu-gb', '24', '--json'], folder)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ weights_gib: 0.01, longest_trained_tokens: 131_072 })
    const inFourBits = await heddle(['doctor', 'gpu', '--quantization', 'nf4', '--json'], folder)
    expect(JSON.parse(inFourBits.out).weights_gib).toBeLessThan(0.01)
    const small = await heddle(['doctor', 'gpu', '--gpu-gb', '1'], folder)
    expect(small).toMatchObject({ code: 1, out: expect.stringContaining('trains  nothing') })
    const absent = await heddle(['doctor', 'gpu', '--model', './absent'], folder)
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('absent/config.json') })
    expect(await heddle(['doctor', 'gpu', '--gpus', '0'], folder)).toMatchObject({ code: 2 })
  })

  it('1 for a folder on which a killed restore has left its work', async () => {
    await using data = await mkdtempDisposable(join(tmpdir(), 'heddle-half-'))
    await mkdir(join(data.path, '.restoring'))
    const { code, out } = await heddle(['doctor', '--data', data.path])
    expect(code).toBe(1)
    expect(out).toContain('A restore into')
  })

  it('gpu knows a relative folder as the server does, from any directory', async () => {
    const args = ['doctor', 'gpu', '--model', 'engine/models/loom-tiny']
    expect(await heddle(args, folder)).toMatchObject({ code: 0, err: '' })
  })

  it.each([
    ['heddle/loom-tiny', 'ok', resolve(ROOT, 'engine/models/loom-tiny')],
    ['engine/models/loom-tiny', 'ok', resolve(ROOT, 'engine/models/loom-tiny')],
    [resolve(ROOT, 'engine/models/loom-tiny'), 'ok', resolve(ROOT, 'engine/models/loom-tiny')],
    ['/nonexistent/model', 'failed', 'The folder /nonexistent/model does not exist'],
    ['./absent', 'failed', `The folder ${resolve(ROOT, 'absent')} does not exist`],
  ])('looks for the base model %s as the server does', async (id, status, detail) => {
    const checks = environmentChecks(readConfig({ HEDDLE_BASE_MODEL: id }))
    expect(await checks.find(({ name }) => name === 'base model')?.run()).toMatchObject({ status, detail })
  })

  it('1 for settings that are not valid, with the name of the variable', async () => {
    const { code, out } = await heddle(['doctor', '--data', 'none', '--json'], folder, {
      HEDDLE_PORT: 'high',
    })
    expect(code).toBe(1)
    expect(out).toContain('HEDDLE_PORT')
  })
})
