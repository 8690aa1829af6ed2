/** How long a page takes to show its first row, and to answer a click on it. */
import type { Browser, BrowserContextOptions } from '@playwright/test'
import type { ListPage } from './pages.ts'

type Storage = BrowserContextOptions['storageState']

/** A page that is measured. */
export interface LoadTarget extends Pick<ListPage, 'row' | 'details'> {
  url: string
  /** Of the row. */
  words: string
  /** What an earlier visit has left in the browser. */
  storage?: Storage
}

/**
 * Milliseconds since the navigation began, as the clock of the page has them, after the frames that showed the row and
 * its details.
 */
export interface Seen {
  row?: number
  details?: number
}

declare global {
  interface Window {
    seen: Seen
    /** Where a click on the row goes; undefined while its details are open. */
    placeToClick(): { x: number; y: number } | undefined
  }
}

/** A page that takes longer counts as not answering. */
const WAIT_MS_MAX = 60_000
/** A click without effect is repeated. */
const AGAIN_MS = 1000

const VIEWPORT = { width: 1440, height: 900 }

/** Opens a page in a browser that has nothing of it in its cache, and clicks the row as soon as it is there. */
export async function measureLoad(
  browser: Browser,
  { url, words, row, details, storage }: LoadTarget,
): Promise<Required<Seen>> {
  const context = await browser.newContext({
    viewport: VIEWPORT,
    ...(storage !== undefined && { storageState: storage }),
  })
  try {
    const page = await context.newPage()
    await page.addInitScript(watch, { words, row, details })
    await page.goto(url, { waitUntil: 'commit' })
    await page.waitForFunction(() => window.seen.row !== undefined, undefined, { timeout: WAIT_MS_MAX })
    for (const deadline = Date.now() + WAIT_MS_MAX; Date.now() < deadline; ) {
      const place = await page.evaluate(() => window.placeToClick())
      if (place !== undefined) await page.mouse.click(place.x, place.y)
      const opened = page.waitForFunction(() => window.seen.details !== undefined, undefined, {
        timeout: AGAIN_MS,
      })
      if (await opened.then(() => true).catch(() => false)) {
        const seen = await page.evaluate(() => window.seen)
        return { row: seen.row ?? Number.NaN, details: seen.details ?? Number.NaN }
      }
    }
    throw new Error(`${url} does not answer a click`)
  } finally {
    await context.close()
  }
}

/** What a page keeps of an earlier visit: which of its welcomes were seen. */
export async function visitOnce(
  browser: Browser,
  url: string,
  { row, welcome }: Pick<ListPage, 'row' | 'welcome'>,
): Promise<Storage> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  const page = await context.newPage()
  await page.goto(url)
  await page.locator(row).nth(1).waitFor({ timeout: WAIT_MS_MAX })
  await welcome?.(page)
  const storage = await context.storageState()
  await context.close()
  return storage
}

/** Runs in the page: notes the frame after the one in which the row, and its details, were there. */
function watch({ words, row, details }: { words: string; row: string; details: string }): void {
  const seen: Seen = {}
  window.seen = seen
  const withWords = (selector: string): Element | undefined =>
    [...document.querySelectorAll(selector)].find(
      (element) => element.textContent.includes(words) && element.checkVisibility(),
    )
  window.placeToClick = () => {
    // What is open and still loading would be closed by another click.
    if ([...document.querySelectorAll(details)].some((element) => element.checkVisibility())) return undefined
    // A row may be wider than what is seen of it; its text is where a person clicks.
    let text = withWords(row)
    for (let inner = text; inner !== undefined; ) {
      text = inner
      inner = [...inner.children].find((child) => child.textContent.includes(words))
    }
    if (text === undefined) return undefined
    const { x, y, width, height } = text.getBoundingClientRect()
    return { x: x + width / 2, y: y + height / 2 }
  }
  const look = (): void => {
    for (const [name, selector] of [
      ['row', row],
      ['details', details],
    ] as const)
      if (seen[name] === undefined && withWords(selector) !== undefined)
        requestAnimationFrame(() => {
          seen[name] ??= performance.now()
        })
    if (seen.details === undefined) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
