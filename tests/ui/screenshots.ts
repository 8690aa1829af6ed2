import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { type Browser, chromium } from '@playwright/test'
import { chromiumPath } from '../../scripts/chromium.ts'
import { pythonIn } from '../../scripts/python-environments.ts'
import { messageOf } from '../../src/errors.ts'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient, startServer, type WireServer } from '../wire/server.ts'
import { loadCalls } from './bulk.ts'
import { startDemoTraining } from './demo-training.ts'
import { loadTrace } from './large-trace.ts'
import { SHOTS, type Shot } from './shots.ts'
import { loadTalk } from './talks.ts'

const FOLDER = join(import.meta.dirname, '../../docs/screenshots')

const SIZES = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
}

/** From as many the curves show which way they go. */
const TRAINING_STEPS = 12

/** Every page, light and dark, on a desk and on a phone. @param only names of shots; all when empty */
async function main(only: readonly string[]): Promise<void> {
  const unknown = only.filter((name) => SHOTS.every((shot) => shot.name !== name))
  if (unknown.length > 0)
    throw new Error(
      `No shot is called ${unknown.join(', ')}; there are ${SHOTS.map(({ name }) => name).join(', ')}`,
    )
  const wanted = SHOTS.filter(({ name }) => only.length === 0 || only.includes(name))
  const withEngine = wanted.some(({ needs }) => needs === 'engine')
  say(`Starting a server ${withEngine ? 'with' : 'without'} an engine`)
  await using server = await startServer(
    withEngine ? { HEDDLE_ENGINE_PYTHON: pythonIn('engine') } : { HEDDLE_CACHE: '/nonexistent/cache' },
  )
  await loadData(server)
  if (withEngine) await train(server)
  await mkdir(FOLDER, { recursive: true })
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--hide-scrollbars'],
  })
  const failures: string[] = []
  for (const [index, shot] of wanted.entries())
    for (const theme of ['light', 'dark'] as const)
      for (const size of ['desk', 'phone'] as const) {
        const file = `${shot.name}-${size}-${theme}.png`
        say(`[${index + 1}/${wanted.length}] ${file}`)
        await take(browser, { url: server.url, shot, theme, size, file }).catch((error: unknown) => {
          failures.push(`${file}: ${stripVTControlCharacters(messageOf(error)).trim()}`)
        })
      }
  await browser.close()
  if (failures.length > 0) throw new Error(`These were not taken:\n${failures.join('\n')}`)
}

function say(what: string): void {
  process.stdout.write(`${what}\n`)
}

/** What clients have sent, each kind in a project of its own. */
async function loadData(server: WireServer): Promise<void> {
  say('Loading calls, traces and conversations')
  await loadCalls(server.url, 'local/support-bot', { count: 5000 })
  await loadTrace(server.url, 'local/agents', { deep: 4, wide: 24, steps: 60, orphans: 0 })
  await loadTalk(server.url, 'local/shop')
  for (const [program, project] of [
    ['weave_evaluations.py', 'local/clients'],
    ['weave_two_models.py', 'local/capitals'],
  ] as const) {
    say(`Running ${program}`)
    await runClient([pythonIn('clients'), clientProgram(program)], {
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: KEY,
      PROJECT: project,
      // The client's response cache is not keyed by server.
      WEAVE_SERVER_CACHE_DIR: join(server.folder, `cache-${program}`),
    })
  }
}

/** Trains a model as `npm run demo` does. @throws Error with what its program said, when it fails. */
async function train(server: WireServer): Promise<void> {
  say(`Training a model for ${TRAINING_STEPS} steps; the engine starts first`)
  await using training = startDemoTraining(server, {
    steps: TRAINING_STEPS,
    onLine: (line) => say(`  ${line}`),
  })
  const status = await training.ended
  if (status !== 0) throw new Error(`The training ended with status ${status}:\n${training.output()}`)
}

interface Picture {
  url: string
  shot: Shot
  theme: 'light' | 'dark'
  size: keyof typeof SIZES
  file: string
}

async function take(browser: Browser, { url, shot, theme, size, file }: Picture): Promise<void> {
  const context = await browser.newContext({ ...SIZES[size], colorScheme: theme, reducedMotion: 'reduce' })
  try {
    const page = await context.newPage()
    await page.goto(url + shot.path)
    await shot.ready(page)
    await page.mouse.move(0, 0)
    await page.screenshot({ path: join(FOLDER, file), animations: 'disabled', caret: 'hide' })
  } finally {
    await context.close()
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
})
