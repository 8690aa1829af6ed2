/** What is measured of Heddle's pages alone: scrolling, the keys, memory, and one large trace. */

import type { Browser, Locator, Page } from '@playwright/test'
import { loadTrace } from '../../tests/ui/large-trace.ts'
import type { FilledServer } from './filled-server.ts'
import { type Frames, framesDuring } from './frames.ts'

/** What a tab holds. */
export interface Held {
  heapMb: number
  nodes: number
  elements: number
}

declare global {
  interface Window {
    /** Milliseconds from each key to the details of its row. */
    keyTimes: number[]
  }
}

const VIEWPORT = { width: 1440, height: 900 }
const WHEEL_TURNS = 60
const WHEEL_PX = 400
/** As fast as a finger turns a wheel. */
const WHEEL_PAUSE_MS = 50
/** What the page still does after the last turn belongs to it. */
const AFTER_MS = 500
/** After it is loaded, a page is left to itself this long. */
const SETTLE_MS = 2000
const DRAG_STEPS = 60
/** Where the thumb of a scroll bar is surely hit, below the button that some have. */
const THUMB_PX = { right: 5, top: 18 }
const KEYS = 20
/** Two pages of rows: what one sees while all are gone through. */
const SWEEP_PX = 5600
const SWEEP_PAUSE_MS = 80
const WAIT_MS_MAX = 60_000

const LARGE_TRACE_PROJECT = 'bench/large-trace'

const pause = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms))

/** Frames of a page while the wheel turns over its middle. */
async function wheel(page: Page): Promise<Frames> {
  await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2)
  await pause(SETTLE_MS)
  return framesDuring(page, async () => {
    for (let turn = 0; turn < WHEEL_TURNS; turn++) {
      await page.mouse.wheel(0, WHEEL_PX)
      await pause(WHEEL_PAUSE_MS)
    }
    await pause(AFTER_MS)
  })
}

/** Frames of a page that does nothing, for as long. */
export async function idleFrames(browser: Browser, url: string): Promise<Frames> {
  return inPage(browser, url, wheel)
}

/** One round over a list of every call. */
export async function measureList(
  browser: Browser,
  { server, project }: FilledServer,
): Promise<{ wheeled: Frames; dragged: Frames }> {
  return inPage(browser, `${server.url}/${project}/traces?calls=all`, async (page) => {
    await firstRow(page).waitFor({ timeout: WAIT_MS_MAX })
    const wheeled = await wheel(page)
    const dragged = await drag(page)
    return { wheeled, dragged }
  })
}

/** From pressing j or k, with details open, until those of the other row are painted: milliseconds of each. */
export async function measureKeys(browser: Browser, { server, project }: FilledServer): Promise<number[]> {
  return inPage(browser, `${server.url}/${project}/traces`, async (page) => {
    await firstRow(page).click()
    await page.getByRole('complementary', { name: 'call' }).getByRole('tree').first().waitFor()
    await pause(SETTLE_MS)
    await page.evaluate(watchKeys)
    for (let press = 0; press < KEYS; press++) {
      const before = await page.evaluate(() => window.keyTimes.length)
      await page.keyboard.press(press < KEYS / 2 ? 'j' : 'k')
      await page.waitForFunction((count) => window.keyTimes.length > count, before)
    }
    return page.evaluate(() => window.keyTimes)
  })
}

/** What the tab holds before and after all rows of a list went by, of what is still reachable. */
export async function measureMemory(
  browser: Browser,
  { server, project }: FilledServer,
): Promise<{ before: Held; after: Held; last: number }> {
  return inPage(browser, `${server.url}/${project}/traces?calls=all`, async (page) => {
    await firstRow(page).waitFor({ timeout: WAIT_MS_MAX })
    await pause(SETTLE_MS)
    const before = await held(page)
    const last = await page.evaluate(sweep, { px: SWEEP_PX, pauseMs: SWEEP_PAUSE_MS })
    await pause(SETTLE_MS)
    return { before, after: await held(page), last }
  })
}

/** Writes a trace of 30,000 calls; where its page is. */
export async function largeTrace({ server }: FilledServer): Promise<{ url: string; count: number }> {
  const { root, count } = await loadTrace(server.url, LARGE_TRACE_PROJECT)
  return { url: `${server.url}/${LARGE_TRACE_PROJECT}/calls/${root}`, count }
}

/** Milliseconds until rows of the tree are there, and until a click on one has shown that call. */
export async function measureTrace(
  browser: Browser,
  url: string,
): Promise<{ rowsMs: number; usableMs: number }> {
  return inPage(browser, 'about:blank', async (page) => {
    const started = performance.now()
    await page.goto(url, { waitUntil: 'commit' })
    const row = page.getByRole('treegrid').locator('[role=row][aria-level="2"]').first()
    await row.waitFor({ timeout: WAIT_MS_MAX })
    const rowsMs = performance.now() - started
    const address = page.url()
    await row.click()
    await page.waitForFunction((old) => location.href !== old, address)
    await row.and(page.locator('[aria-selected=true]')).waitFor()
    await page.evaluate(() => new Promise(requestAnimationFrame))
    return { rowsMs, usableMs: performance.now() - started }
  })
}

async function inPage<Result>(
  browser: Browser,
  url: string,
  work: (page: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  try {
    const page = await context.newPage()
    await page.goto(url)
    return await work(page)
  } finally {
    await context.close()
  }
}

const firstRow = (page: Page): Locator => page.getByRole('grid').locator('[data-index="0"]').getByText(/op\d/)

/** Frames while the thumb of the scroll bar goes from the top to the end. */
async function drag(page: Page): Promise<Frames> {
  const grid = page.getByRole('grid')
  await grid.evaluate((element) => element.scrollTo({ top: 0 }))
  await pause(SETTLE_MS)
  const box = await grid.boundingBox()
  if (box === null) throw new Error('The list is not visible')
  const { x, y, width, height } = box
  const thumbX = x + width - THUMB_PX.right
  const frames = await framesDuring(page, async () => {
    await page.mouse.move(thumbX, y + THUMB_PX.top)
    await page.mouse.down()
    await page.mouse.move(thumbX, y + height - 2, { steps: DRAG_STEPS })
    await page.mouse.up()
    await pause(AFTER_MS)
  })
  const isAtEnd = await grid.evaluate(
    (element) => element.scrollTop > 0.95 * (element.scrollHeight - element.clientHeight),
  )
  if (!isAtEnd) throw new Error('The scroll bar was not dragged to the end')
  return frames
}

async function held(page: Page): Promise<Held> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  const of = (wanted: string): number => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN
  const elements = await page.evaluate(() => document.getElementsByTagName('*').length)
  return { heapMb: of('JSHeapUsedSize') / 2 ** 20, nodes: of('Nodes'), elements }
}

/** Runs in the page: goes through all rows. Answers the last row that was there at the end. */
async function sweep({ px, pauseMs }: { px: number; pauseMs: number }): Promise<number> {
  const grid = document.querySelector('[role=grid]')
  if (grid === null) throw new Error('There is no list')
  for (let top = 0; top < grid.scrollHeight; top += px) {
    grid.scrollTop = top
    await new Promise((wake) => setTimeout(wake, pauseMs))
  }
  return Math.max(
    ...[...grid.querySelectorAll<HTMLElement>('[data-index]')].map(({ dataset }) => Number(dataset['index'])),
  )
}

/** Runs in the page: how long after each key the details are those of the row that the key went to. */
function watchKeys(): void {
  window.keyTimes = []
  const details = document.querySelector('[aria-label=call]')
  if (details === null) throw new Error('No details are shown')
  document.addEventListener(
    'keydown',
    ({ timeStamp }) => {
      const before = details.textContent
      const look = (): void => {
        const row = document.activeElement?.closest('[data-index]')
        const words = row?.querySelector('[data-column="2"]')?.textContent.slice(0, 20)
        const isShown = words && details.textContent !== before && details.textContent.includes(words)
        if (!isShown) requestAnimationFrame(look)
        else requestAnimationFrame((now) => window.keyTimes.push(now - timeStamp))
      }
      requestAnimationFrame(look)
    },
    true,
  )
}
