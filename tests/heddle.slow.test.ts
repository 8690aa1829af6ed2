import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { heddle, startServer } from './backup/server-process.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-command-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

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
    [['backup'], "missing required argument 'target'"],
    [['restore', 'x'], "required option '--data <folder>' not specified"],
    [['version', 'extra'], 'too many arguments'],
  ])('2 for %j', async (args, message) => {
    const { code, err } = await heddle(args)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  it('0 with the versions, from any directory', async () => {
    const { code, out } = await heddle(['version', '--json'], folder)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ heddle: expect.any(String), node: process.versions.node })
  })

  it('1 for a backup of what is no data folder, as JSON where that was asked for', async () => {
    const { code, out } = await heddle(['backup', 'b', '--data', 'none', '--json'], folder)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({ error: expect.stringContaining('is no data folder') })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('heddle move', () => {
  it.each([['--forget'], ['--to', 'elsewhere']])('1 for %s of what is no data folder', async (...options) => {
    const { code, err } = await heddle(['move', ...options, '--data', 'none'], folder)
    expect(code).toBe(1)
    expect(err).toContain('is no data folder')
    expect(await readdir(folder)).toEqual([])
  })

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

  it('1 for settings that are not valid, with the name of the variable', async () => {
    const { code, out } = await heddle(['doctor', '--data', 'none', '--json'], folder, {
      HEDDLE_PORT: 'high',
    })
    expect(code).toBe(1)
    expect(out).toContain('HEDDLE_PORT')
  })
})
