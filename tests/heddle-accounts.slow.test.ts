import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/http/listen.ts'
import { openTestApp, type TestApp } from '../src/test-app.ts'

const ROOT = resolve(import.meta.dirname, '..')

let folder: string
let opened: TestApp
let url: string
let link: string
const closing = new AsyncDisposableStack()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-command-'))
  opened = closing.use(await openTestApp(join(folder, 'data'), { auth: 'keys' }))
  const server = closing.use(await listen(opened.app, { host: '127.0.0.1', port: 0 }))
  url = server.url
  opened.stores.announce(url)
  link = url + (await opened.accounts.sessions.firstSignIn())
})
afterAll(async () => {
  await closing.disposeAsync()
  await rm(folder, { recursive: true, force: true })
})

interface Ended {
  code: number
  out: string
  errors: string
}

/** Runs the command in another directory, so that it depends on none. */
function heddle(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const { HEDDLE_API_KEY: _, WANDB_API_KEY: _key, ...rest } = process.env
  return new Promise((fulfil) => {
    const program = join(ROOT, 'scripts/heddle.mjs')
    const options = { cwd: folder, env: { ...rest, ...env } }
    execFile(process.execPath, [program, ...args], options, (error, out, errors) => {
      fulfil({ code: typeof error?.code === 'number' ? error.code : 0, out, errors })
    })
  })
}

describe('heddle keys, users and teams', () => {
  it('ends with 2 for what it does not understand, and with 1 for what fails, with the reason', async () => {
    expect(await heddle(['keys', 'list', '--all'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--all'),
    })
    const nowhere = await heddle(['keys', 'list', '--data', join(folder, 'nothing')])
    expect(nowhere).toMatchObject({ code: 1, errors: expect.stringContaining('No server runs') })
    const wrong = await heddle(['users', 'list', '--url', url, '--key', 'wrong', '--json'])
    expect(wrong.code).toBe(1)
    expect(JSON.parse(wrong.out)).toMatchObject({ error: expect.stringContaining('not valid') })
  })

  it('ends with 1 where no key was given, and says how to give one', async () => {
    const data = ['--data', join(folder, 'data')]
    for (const args of [
      ['users', 'add', 'bob'],
      ['backup', join(folder, 'refused')],
    ]) {
      const { code, errors } = await heddle([...args, ...data])
      expect(code).toBe(1)
      expect(errors).toContain('none was given: set HEDDLE_API_KEY, or name one with --key')
    }
    const given = await heddle(['users', 'list', ...data], { HEDDLE_API_KEY: 'local' })
    expect(given.errors).toContain('The API key is not valid')
  })

  it('makes the first key of a link, users, teams and keys with it, and revokes them', async () => {
    const data = ['--data', join(folder, 'data'), '--json']
    const { out } = await heddle(['keys', 'create', 'first', '--link', link])
    const [key = '', advice] = out.split('\n')
    expect(advice).toContain(`export HEDDLE_API_KEY=${key}`)
    const env = { HEDDLE_API_KEY: key }
    const run = async (...args: string[]) => JSON.parse((await heddle([...args, ...data], env)).out)
    expect(await run('users', 'add', 'ada')).toMatchObject({
      name: 'ada',
      sign_in_url: expect.stringContaining('#'),
    })
    expect(await run('teams', 'add', 'research', '--admin', 'ada')).toMatchObject({ name: 'research' })
    expect(await run('teams', 'members', 'research')).toMatchObject([{ user: 'ada', role: 'admin' }])
    expect(await run('users', 'list')).toMatchObject([{ name: 'ada' }, { name: 'admin', is_operator: true }])
    const made = await run('keys', 'create', 'second', '--scope', 'read')
    expect(await run('keys', 'revoke', made.id)).toMatchObject({ revoked: true })
    expect(await run('keys', 'list')).toMatchObject([{ name: 'first' }])
    const backup = await run('backup', join(folder, 'backup'))
    expect(backup).toMatchObject({ state: 'done' })
  })
})
