import type { Page } from '@playwright/test'
import { startServer } from '../wire/server.ts'
import { loadCalls } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { grid, title } from './traces-page.ts'

const banner = (page: Page) => page.getByRole('status', { name: 'Connection' })

test('the server goes away: one banner on every page, what was loaded stays, all of it goes on when it is back', async ({
  page,
}) => {
  await using server = await startServer({ HEDDLE_CACHE: '/nonexistent/cache' })
  const project = 'local/away'
  await loadCalls(server.url, project, { count: 60 })
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(error.message))
  await page.goto(`${server.url}/${project}/traces`)
  await expect(title(page)).toContainText('60 calls')
  await grid(page).getByRole('row').nth(2).click()
  const peek = page.getByRole('complementary', { name: 'call' })
  await expect(peek.getByRole('button', { name: 'Good' })).toBeVisible()
  // Pages are loaded while nothing else is done.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.includes('playground-page')),
  )

  await server.signal('SIGKILL')
  await expect(banner(page)).toBeVisible()
  await expect(grid(page).getByRole('row').nth(3)).toContainText('question')
  await peek.getByRole('button', { name: 'Good' }).click()
  await expect(peek.getByRole('button', { name: 'Good' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('n')
  await page.keyboard.type('Written while it was away')
  await page.keyboard.press('Control+Enter')
  await expect(peek.getByText('Written while it was away')).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])

  await page.keyboard.press('Escape')
  for (const [keys, name] of [
    ['ge', 'Evaluations'],
    ['gd', 'Datasets'],
    ['gm', 'Training'],
    ['gc', 'Threads'],
    ['gs', 'System'],
    ['gh', 'Home'],
  ] as const) {
    await page.keyboard.type(keys)
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(banner(page)).toBeVisible()
    await expect(page.getByText('Showing what was loaded before')).toBeHidden()
  }
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'System' })).toBeVisible()

  await server.start()
  await expect(banner(page)).toBeHidden()
  await expect(page.getByRole('img', { name: /rows accepted/ })).toBeVisible()
  for (let at = 0; at < 5; at++) await page.goBack()
  await expect(title(page)).toContainText('60 calls')
  await grid(page).getByRole('row').nth(2).click()
  await expect(peek.getByRole('button', { name: 'Good' })).toHaveAttribute('aria-pressed', 'true')
  await expect(peek.getByText('Written while it was away')).toBeVisible()
  expect(failures).toEqual([])
})

test('a page that was not loaded before the server went comes when it is back, and nothing is reloaded', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 20 })
  let isAway = false
  await page.route('**/*', (route) => (isAway ? route.abort('connectionrefused') : route.fallback()))
  // Nothing is loaded ahead.
  await page.addInitScript(() => {
    window.requestIdleCallback = () => 0
  })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('20 calls')
  await page.evaluate(() => Object.assign(window, { marked: true }))
  isAway = true
  await expect(banner(page)).toBeVisible()
  await page.keyboard.type('ge')
  await expect(page).toHaveURL(new RegExp(`/${project}/evaluations$`))
  isAway = false
  await expect(banner(page)).toBeHidden()
  await expect(page.getByRole('heading', { name: 'No evaluations yet' })).toBeVisible()
  expect(await page.evaluate(() => 'marked' in window)).toBe(true)
})

test('a note whose answer is lost on the way is sent again, and is written once', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 3 })
  let sent = 0
  await page.route('**/feedback/create', async (route) => {
    sent++
    const response = await route.fetch()
    await (sent === 1 ? route.abort('connectionreset') : route.fulfill({ response }))
  })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('3 calls')
  await grid(page).getByRole('row').nth(2).click()
  const peek = page.getByRole('complementary', { name: 'call' })
  await expect(peek.getByRole('button', { name: 'Good' })).toBeVisible()
  await page.keyboard.press('n')
  await page.keyboard.type('Written once')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => sent).toBe(2)
  await page.reload()
  await expect(peek.getByText('Written once')).toHaveCount(1)
})
