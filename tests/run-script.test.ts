import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { lockFolder } from '../scripts/folder-lock.mjs'

const SCRIPTS = resolve(import.meta.dirname, '../scripts')

/** Another Node than the one of the tests, which does the same: the bootstrap hands over to it. */
const OTHER_NODE = `#!/bin/sh\nexec ${process.execPath} "$@"\n`

/** Tells its arguments and input, and ends with the status that it is given. */
const ECHO = `const args: string[] = process.argv.slice(2)
process.stdout.write('ran ' + args.join(' ') + ' ')
process.stdin.pipe(process.stdout)
process.exitCode = Number(args[0])
`

/** Says what signal it got, as a server that stops. */
const WAIT = `process.on('SIGTERM', () => { process.stdout.write('stopped'); process.exit(3) })
setInterval(() => undefined, 1000)
process.stdout.write('waits ')
`

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/**
 * A repository with nothing but two scripts under names of commands, and a module of theirs, and with an npm that runs
 * `install` in its place.
 */
function repository(install: string): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-run-')))
  folders.push(root)
  for (const folder of ['scripts', 'bin', 'src', 'dist/server'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const file of ['run.mjs', 'folder-lock.mjs'])
    copyFileSync(join(SCRIPTS, file), join(root, 'scripts', file))
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  writeFileSync(join(root, 'package-lock.json'), '{"packages": {"": {}, "node_modules/one": {}}}')
  writeFileSync(join(root, 'scripts/gen.ts'), ECHO)
  writeFileSync(join(root, 'scripts/test.ts'), WAIT)
  writeFileSync(join(root, 'scripts/parts.ts'), 'export {}')
  for (const program of ['src/main.ts', 'dist/server/main.js']) writeFileSync(join(root, program), WAIT)
  writeFileSync(join(root, 'node'), OTHER_NODE)
  writeFileSync(join(root, 'bin/npm'), `#!/bin/sh\necho x >> ${root}/installed\n${install}\n`)
  chmodSync(join(root, 'node'), 0o755)
  chmodSync(join(root, 'bin/npm'), 0o755)
  return root
}

const INSTALLS = 'mkdir -p node_modules/.bin && cp node node_modules/.bin/node'

interface Ended {
  code: number | null
  out: string
  err: string
}

interface RunOptions {
  /** Is sent once the script waits. */
  signal?: NodeJS.Signals
  /** Is called when the command waits for another one. */
  onWaiting?: () => void
}

/** Runs a script of a repository to its end. */
async function run(root: string, args: string[], { signal, onWaiting }: RunOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, ['scripts/run.mjs', ...args], {
    cwd: root,
    env: { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env['PATH']}` },
  })
  const ended: Ended = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ended.out += String(chunk)
    if (signal !== undefined && ended.out.endsWith('waits ')) child.kill(signal)
  })
  child.stderr.on('data', (chunk) => {
    ended.err += String(chunk)
    if (String(chunk).includes('Waiting for process')) onWaiting?.()
  })
  child.stdin.end('input')
  ended.code = await new Promise((fulfil) => child.once('close', fulfil))
  return ended
}

describe('scripts/run.mjs', () => {
  it('installs the packages, then runs the script on their Node with its arguments, input and status', async () => {
    const root = repository(INSTALLS)
    const first = await run(root, ['gen', '7', 'a b'])
    expect(first).toMatchObject({ code: 7, out: 'ran 7 a b input' })
    expect(first.err).toMatch(/^npm packages …\nnpm packages: ready after \d+ s\n$/)
  })

  it('installs again only when the lock file has changed', async () => {
    const root = repository(INSTALLS)
    const installed = join(root, 'installed')
    await run(root, ['gen', '0'])
    rmSync(installed)
    expect(await run(root, ['gen', '0'])).toMatchObject({ code: 0, err: '' })
    expect(existsSync(installed)).toBe(false)
    writeFileSync(join(root, 'package-lock.json'), '{"packages": {"": {}}}')
    await run(root, ['gen', '0'])
    expect(existsSync(installed)).toBe(true)
  })

  it('waits for another command that installs, and uses what that has installed', async () => {
    const root = repository(INSTALLS)
    const [packages, aside] = [join(root, 'node_modules'), join(root, 'aside')]
    await run(root, ['gen', '0'])
    renameSync(packages, aside)
    const release = await lockFolder(packages)
    const onWaiting = (): void => {
      renameSync(aside, packages)
      release()
    }
    expect(await run(root, ['gen', '0'], { onWaiting })).toMatchObject({ code: 0, out: 'ran 0 input' })
    expect(readFileSync(join(root, 'installed'), 'utf8')).toBe('x\n')
    expect(existsSync(join(root, 'node_modules.lock'))).toBe(false)
  })

  it.each(['src/main.ts', 'dist/server/main.js'])(
    'replaces no packages of a server that runs with them as %s',
    async (program) => {
      const root = repository(INSTALLS)
      const server = spawn(process.execPath, ['--max-semi-space-size=32', join(root, program)])
      await once(server.stdout, 'data')
      const refused = await run(root, ['gen', '0'])
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toContain(`process ${server.pid} is a server that runs with them: stop it`)
      expect(existsSync(join(root, 'installed'))).toBe(false)
      server.kill('SIGTERM')
      await once(server, 'close')
      expect(await run(root, ['gen', '0'])).toMatchObject({ code: 0 })
    },
  )

  it('provides its Node again where that was a link to one which an update has moved away', async () => {
    const root = repository(INSTALLS)
    await run(root, ['gen', '0'])
    const node = join(root, 'node_modules/.bin/node')
    unlinkSync(node)
    symlinkSync(join(root, 'moved-away'), node)
    expect(await run(root, ['gen', '0'])).toMatchObject({ code: 0, out: 'ran 0 input', err: '' })
    expect(realpathSync(node)).toBe(realpathSync(process.execPath))
  })

  it('runs the script in its own process when it runs on the Node of the packages', async () => {
    const root = repository(`mkdir -p node_modules/.bin && ln -s ${process.execPath} node_modules/.bin/node`)
    await run(root, ['gen', '0'])
    expect(await run(root, ['gen', '5', 'x'])).toMatchObject({ code: 5, out: 'ran 5 x input' })
  })

  it('passes a signal on, and ends as the script does', async () => {
    const root = repository(INSTALLS)
    expect(await run(root, ['test'], { signal: 'SIGTERM' })).toMatchObject({ code: 3, out: 'waits stopped' })
  })

  it('says why the packages could not be installed, and tries again the next time', async () => {
    const root = repository('echo "getaddrinfo EAI_AGAIN registry"; exit 1')
    for (const _ of [1, 2]) {
      const { code, out, err } = await run(root, ['gen', '0'])
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain('npm packages: failed')
      expect(err).toContain('ended with status 1:\n  getaddrinfo EAI_AGAIN')
      expect(err).toContain('could not be reached: check the network')
    }
  })

  it.each([[['nothing']], [['parts', '--nonsense']], [[]]])(
    'refuses what names no command: %j',
    async (args) => {
      const root = repository(INSTALLS)
      const { code, out, err } = await run(root, args)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain('NAME is one of bench, collect,')
      expect(existsSync(join(root, 'installed'))).toBe(false)
    },
  )
})
