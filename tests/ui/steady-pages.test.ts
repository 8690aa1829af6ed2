import type { Page } from '@playwright/test'
import { loadCalls } from './bulk.ts'
import { expect, test } from './heddle.ts'
import { loadTrace } from './large-trace.ts'
import { grid, title } from './traces-page.ts'
import { runWeave } from './weave-client.ts'

/** How much of the page moved without a person doing anything, as browsers score it. */
async function shiftOf(page: Page): Promise<number> {
  return await page.evaluate(
    () =>
      new Promise<number>((fulfil) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as PerformanceEntry & { value: number }).value
        }).observe({ type: 'layout-shift', buffered: true })
        // What is buffered comes with the next task.
        setTimeout(() => fulfil(sum), 100)
      }),
  )
}

/** What people do not notice. */
const SHIFT_MAX = 0.01

test('nothing moves while System and Evaluations are loaded', async ({ page, server, project }) => {
  await runWeave('weave_crashing_models.py', server, project)
  await page.goto(`/${project}/evaluations`)
  await expect(page.getByRole('img', { name: 'exact.correct: 0.84' })).toBeVisible()
  expect(await shiftOf(page)).toBeLessThanOrEqual(SHIFT_MAX)
  await page.goto('/system')
  await expect(page.getByRole('img', { name: /rows accepted/ })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Versions' })).toBeVisible()
  // Counters are read again every two seconds.
  await page.waitForResponse(/\/metrics$/)
  await page.waitForResponse(/\/metrics$/)
  expect(await shiftOf(page)).toBeLessThanOrEqual(SHIFT_MAX)
})

test('what one jumps to in a large trace stands in the middle, and the rail says where one is', async ({
  page,
  server,
  project,
}) => {
  const trace = await loadTrace(server.url, project, { deep: 4, wide: 600, steps: 400, orphans: 0 })
  await page.goto(`/${project}/calls/${trace.root}`)
  const rows = page.getByRole('treegrid', { name: 'Calls of the trace' })
  const selected = rows.getByRole('row', { selected: true })
  await expect(selected).toContainText('research_agent')
  await expect(page.getByRole('navigation', { name: 'Places' }).locator('[aria-current="page"]')).toHaveText(
    'Traces',
  )
  const isWhole = async () => {
    const [row, box] = [await selected.boundingBox(), await rows.boundingBox()]
    return row !== null && box !== null && row.y >= box.y + 22 && row.y + row.height <= box.y + box.height
  }
  for (let at = 0; at < 5; at++) {
    const before = page.url()
    await page.keyboard.press('e')
    await expect(page).not.toHaveURL(before)
    await expect.poll(isWhole).toBe(true)
  }
  for (let at = 0; at < 40; at++) await page.keyboard.press('j')
  await expect.poll(isWhole).toBe(true)
  for (let at = 0; at < 60; at++) await page.keyboard.press('k')
  await expect.poll(isWhole).toBe(true)
})

test('new calls are shown at the top although one had scrolled down', async ({ page, server, project }) => {
  await loadCalls(server.url, project, { count: 300 })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('300 calls')
  await grid(page).hover()
  await page.mouse.wheel(0, 3000)
  const scrolled = () => grid(page).evaluate(({ scrollTop }) => scrollTop)
  await expect.poll(scrolled).toBeGreaterThan(1000)
  await loadCalls(server.url, project, { count: 7, now: Date.now() + 65_000, spanMs: 64_000, first: 1000 })
  await page.getByRole('button', { name: '7 new' }).click()
  await expect(title(page)).toContainText('307 calls')
  await expect.poll(scrolled).toBe(0)
})

test('the list of columns takes the focus, so that what is typed is looked for', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 20 })
  await page.goto(`/${project}/traces`)
  await page.getByRole('button', { name: 'Columns' }).click()
  await expect(page.getByRole('textbox', { name: 'Find a column' })).toBeFocused()
  await page.keyboard.type('customer')
  await expect(page.getByRole('checkbox', { name: /customer\.plan/ })).toBeVisible()
  await expect(page.getByRole('menu')).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('textbox', { name: 'Find a column' })).toBeHidden()
})

test('a list without conditions is edited as a query without a refusal; a wrong order in a link is left out', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 20 })
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(`/${project}/traces?sort=-nothing`)
  await expect(title(page)).toContainText('20 calls')
  await page.keyboard.press('q')
  const dialog = page.getByRole('dialog', { name: 'Edit as query' })
  await expect(dialog).toContainText('20 calls match')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await expect(dialog).toBeHidden()
  await expect(title(page)).toContainText('20 calls')
  expect(refused).toEqual([])

  const odd = encodeURIComponent(JSON.stringify([{ field: 'nothing', op: 'is', value: '1' }]))
  await page.goto(`/${project}/traces?filter=${odd}`)
  await page.getByRole('button', { name: 'Drop all conditions' }).click()
  await expect(title(page)).toContainText('20 calls')
})
