// @ts-check
/**
 * Runs a script of this folder: `node scripts/run.mjs NAME [ARGUMENT …]`. Plain JavaScript for the Node of the machine,
 * because it runs before anything is installed: it installs the npm packages when the lock file has changed, and goes
 * on with the Node among them, which runs TypeScript. Without work to do it only compares hashes.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
// Older versions than that among the packages have no compile cache to import by name.
import module from 'node:module'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { lockFolder } from './folder-lock.mjs'

const ROOT = resolve(fileURLToPath(import.meta.url), '../..')
const PACKAGES = join(ROOT, 'node_modules')
const NODE = join(PACKAGES, '.bin/node')

/** Where `npx heddle` finds the command: npm links those of packages, not that of the folder itself. */
const COMMAND = join(PACKAGES, '.bin/heddle')

/** As in src/main.ts: compiled modules, with which a command starts in half the time. */
const COMPILED = join(PACKAGES, '.cache/heddle')

/**
 * The programs of a server of this folder, built and as sources, and what precedes them in a command line: a server
 * starts itself with flags of Node.
 */
const SERVERS = [join(ROOT, 'dist/server/main.js'), join(ROOT, 'src/main.ts')]
const BEFORE_SERVER = /node(?: --\S+)* $/

/** Runs TypeScript as it is. */
const NODE_MAJOR_MIN = 24

/** Lines of npm's output kept to explain a failure. */
const TAIL_LINES = 30

const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH/

/** The scripts that are commands; the others are their parts. */
const NAMES = [
  'bench',
  'collect',
  'demo',
  'demo-loop',
  'gen',
  'heddle',
  'lock-python',
  'newer-clients',
  'prices',
  'screenshots',
  'setup',
  'test',
]

/** @param {string[]} args the name of a script and its arguments */
async function main([name = '', ...args]) {
  if (!NAMES.includes(name))
    throw new Error(`Usage: node scripts/run.mjs NAME [ARGUMENT …]\nNAME is one of ${NAMES.join(', ')}`)
  const script = join(ROOT, 'scripts', `${name}.ts`)
  const wasInstalled = await installPackages()
  provideNode()
  if (wasInstalled || realpathSync(process.execPath) !== realpathSync(NODE))
    return runWith(NODE, [script, ...args])
  // Without a process between them, signals reach the script as they are sent.
  process.argv = [process.execPath, script, ...args]
  module.enableCompileCache(COMPILED)
  await import(pathToFileURL(script).href)
}

/** Installs the npm packages when the lock file has changed since they were; resolves with whether it did. */
async function installPackages() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const stamp = join(PACKAGES, '.heddle-lock')
  const wanted = createHash('sha256').update(lock).digest('hex')
  const areInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
  if (areInstalled()) return false
  const release = await lockFolder(PACKAGES)
  try {
    // By another command, which this one has waited for.
    if (areInstalled()) return true
    refuseUnderServer()
    rmSync(stamp, { force: true })
    await runNpm(Object.keys(JSON.parse(lock).packages).length - 1)
    rmSync(COMMAND, { force: true })
    symlinkSync('../../scripts/heddle.mjs', COMMAND)
    writeFileSync(stamp, wanted)
  } finally {
    release()
  }
  return true
}

/** @param {string} line of a command */
function isServer(line) {
  return SERVERS.some(
    (program) => line.endsWith(program) && BEFORE_SERVER.test(line.slice(0, -program.length)),
  )
}

/** A server loads some packages only when they are needed: they may not be those of another version by then. */
function refuseUnderServer() {
  const { stdout } = spawnSync('ps', ['-Awwo', 'pid=,args='], { encoding: 'utf8' })
  const server = (stdout ?? '').split('\n').find(isServer)
  if (server === undefined) return
  const pid = Number.parseInt(server, 10)
  throw new Error(
    `The packages of ${ROOT} have to be replaced, and process ${pid} is a server that runs with them: stop it, then run this command again`,
  )
}

/**
 * Runs `npm ci` under a line of progress, which a terminal redraws. @throws Error with the end of npm's output.
 * @param {number} total packages
 */
async function runNpm(total) {
  const { stderr } = process
  const command = ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=http']
  const started = Date.now()
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`
  /** @type {string[]} */
  const tail = []
  let count = 0
  if (!stderr.isTTY) stderr.write('npm packages …\n')
  const child = spawn('npm', command.slice(1), { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      // npm names each package file it gets, from the network or its cache.
      const file = /http (?:fetch|cache) .*\/([^/]+)\.tgz/.exec(line)?.[1]
      if (file !== undefined) count++
      if (file !== undefined && stderr.isTTY)
        stderr.write(`\r\x1b[Knpm packages ${count}/${total} ${seconds()} ${file}`)
      if (!/http (fetch|cache)/.test(line)) tail.push(line)
      if (tail.length > TAIL_LINES) tail.shift()
    })
  const [code, signal] = await once(child, 'close')
  stderr.write(
    `${stderr.isTTY ? '\r\x1b[K' : ''}npm packages: ${code === 0 ? 'ready' : 'failed'} after ${seconds()}\n`,
  )
  if (code === 0) return
  const reason = signal ? `was ended by ${signal}` : `ended with status ${code}`
  const hint = NO_REGISTRY.test(tail.join('\n'))
    ? '\nThe package registry could not be reached: check the network or the proxy settings, then run the same command again.'
    : ''
  throw new Error(`${command.join(' ')} ${reason}:\n  ${tail.join('\n  ')}${hint}`)
}

/**
 * The Node that runs everything is a package with a locked hash where npm has one, which is on Linux; elsewhere it is
 * the one that runs this, until an update moves that one away.
 */
function provideNode() {
  if (existsSync(NODE)) return
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_MIN)
    throw new Error(
      `Heddle runs on Node ${NODE_MAJOR_MIN} or newer, which it brings along on Linux; here it has to be installed (this is ${process.version})`,
    )
  const link = `${NODE}.${process.pid}`
  symlinkSync(process.execPath, link)
  renameSync(link, NODE)
}

/**
 * Ends as the program does: with its status, or by the same signal.
 * @param {string} program
 * @param {string[]} args
 */
async function runWith(program, args) {
  const env = { NODE_COMPILE_CACHE: COMPILED, ...process.env }
  const child = spawn(program, args, { env, stdio: 'inherit' })
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(name, () => child.kill(name))
  const [code, signal] = await once(child, 'close')
  process.exitCode = code ?? 1
  if (signal === null) return
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

await main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
})
