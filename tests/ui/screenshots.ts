import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, chromium } from '@playwright/test'
import { clientProgram, pythonIn } from '../wire/environments.ts'
import { KEY, runClient, startServer } from '../wire/server.ts'
import { loadCalls } from './bulk.ts'
import { chromiumPath } from './chromium.ts'
import { loadTrace } from './large-trace.ts'
import { SHOTS, type Shot } from './shots.ts'
import { loadTalk } from './talks.ts'

const FOLDER = join(import.meta.dirname, '../../docs/screenshots')

const SIZES = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
}

/** Every page, light and dark, on a desk and on a phone. @param only names of shots; all when empty */
async function main(only: readonly string[]): Promise<void> {
  await using server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
  await loadCalls(server.url, 'local/support-bot', { count: 5000 })
  await loadTrace(server.url, 'local/agents', { deep: 4, wide: 24, steps: 60, orphans: 0 })
  await loadTalk(server.url, 'local/shop')
  for (const [program, project] of [
    ['weave_evaluations.py', 'local/clients'],
    ['weave_two_models.py', 'local/capitals'],
  ] as const)
    await runClient([pythonIn('clients'), clientProgram(program)], {
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: KEY,
      PROJECT: project,
      // The client's response cache is not keyed by server.
      WEAVE_SERVER_CACHE_DIR: join(server.folder, `cache-${program}`),
    })
  await mkdir(FOLDER, { recursive: true })
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--hide-scrollbars'],
  })
  const wanted = SHOTS.filter(({ name }) => only.length === 0 || only.includes(name))
  for (const shot of wanted)
    for (const theme of ['light', 'dark'] as const)
      for (const size of ['desk', 'phone'] as const) await take(browser, server.url, shot, { theme, size })
  await browser.close()
}

async function take(
  browser: Browser,
  url: string,
  { name, path, ready }: Shot,
  { theme, size }: { theme: 'light' | 'dark'; size: keyof typeof SIZES },
): Promise<void> {
  const context = await browser.newContext({ ...SIZES[size], colorScheme: theme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(url + path)
  await ready(page)
  await page.mouse.move(0, 0)
  await page.screenshot({
    path: join(FOLDER, `${name}-${size}-${theme}.png`),
    animations: 'disabled',
    caret: 'hide',
  })
  process.stdout.write(`${name}-${size}-${theme}.png\n`)
  await context.close()
}

await main(process.argv.slice(2))
