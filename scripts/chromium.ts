/** The browser that the tests of the pages drive: where it is, and how to get one. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import type * as Playwright from '@playwright/test'
import type { Step } from './steps.ts'

interface Way {
  from: string
  commands: Step['command'][]
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/**
 * A Chromium of this machine, or Playwright's own; undefined when there is none.
 * @throws Error for a wrong HEDDLE_CHROMIUM.
 */
export function findChromium(): string | undefined {
  const { HEDDLE_CHROMIUM, PATH = '' } = process.env
  if (HEDDLE_CHROMIUM !== undefined) {
    if (existsSync(HEDDLE_CHROMIUM)) return HEDDLE_CHROMIUM
    throw new Error(`HEDDLE_CHROMIUM names ${HEDDLE_CHROMIUM}, which is not there`)
  }
  const ofMachine = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  // It takes half a second to load, which programs without a browser are spared.
  const { chromium }: typeof Playwright = createRequire(import.meta.url)('@playwright/test')
  return [...ofMachine, chromium.executablePath()].find((path) => existsSync(path))
}

/** {@link findChromium}. @throws Error that says how to get one. */
export function chromiumPath(): string {
  const found = findChromium()
  if (found !== undefined) return found
  throw new Error(
    'No Chromium was found. Install one (Debian: apt install chromium; elsewhere: npx playwright install --with-deps chromium), or name one in HEDDLE_CHROMIUM, and run the same command again.',
  )
}

/**
 * The ways to get one, best first, each some commands: Playwright's own, and where that cannot be fetched or lacks
 * libraries of the system, the package of Debian or Ubuntu, which takes the rights of root.
 */
export function waysToChromium(root: string): Way[] {
  const cli = join(root, 'node_modules/playwright/cli.js')
  const playwright: Way = { from: 'Playwright', commands: [[process.execPath, cli, 'install', 'chromium']] }
  const isRoot = process.getuid?.() === 0
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) return [playwright]
  const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=120'] as const
  const install: Step['command'] = [...apt, 'install', '--yes', '--no-install-recommends', 'chromium']
  return [playwright, { from: "the system's packages", commands: [[...apt, 'update'], install] }]
}

/** Whether a browser starts: Playwright's own needs libraries that a small machine lacks. */
export function startsUp(path: string): boolean {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--dump-dom', 'about:blank']
  return spawnSync(path, args, { timeout: 60_000 }).status === 0
}
