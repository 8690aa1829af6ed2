import type { Page } from '@playwright/test'
import { loadCalls } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { title } from './traces-page.ts'

const box = (page: Page) => page.getByRole('combobox', { name: 'Search calls' })
const chip = (page: Page, text: string) => page.getByRole('button', { name: `Drop ${text}`, exact: true })

test('the example in the search box works: each term becomes a chip, the words are looked for', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 300 })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('300 calls')
  await page.keyboard.press('/')
  await page.keyboard.type('status:error latency:>2s')
  await page.keyboard.press('Enter')
  await expect(chip(page, 'status is error')).toBeVisible()
  await expect(chip(page, 'latency_ms > 2000')).toBeVisible()
  await expect(title(page)).toContainText('13 calls')
  await expect(box(page)).toHaveValue('')

  await box(page).fill('op:rerank "two days"')
  await page.keyboard.press('Enter')
  await expect(chip(page, 'op is rerank')).toBeVisible()
  await expect(box(page)).toHaveValue('two days')
  await page.reload()
  await expect(box(page)).toHaveValue('two days')
  await expect(chip(page, 'op is rerank')).toBeVisible()

  await box(page).fill('latency:>soon')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('latency:soon is no time')
  await expect(box(page)).toHaveValue('latency:>soon')
  expect(await seriousViolations(page)).toEqual([])
})

test('fields, operators and values are offered while one types, and nothing is asked before Enter', async ({
  page,
  server,
  project,
}) => {
  await loadCalls(server.url, project, { count: 120 })
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('120 calls')
  const searches: string[] = []
  page.on('request', (request) => {
    if (request.postData()?.includes('$contains')) searches.push(request.url())
  })
  const option = (name: string | RegExp) => page.getByRole('option', { name })
  await page.keyboard.press('/')
  await page.keyboard.type('stat', { delay: 100 })
  await expect(page.getByRole('option', { name: 'status:', exact: true })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(box(page)).toHaveValue('status:')
  await option('status:error').first().click()
  await expect(box(page)).toHaveValue('status:error ')
  await page.keyboard.type('attributes.e')
  await option(/attributes\.env:/).click()
  await option(/attributes\.env:staging/).click()
  await expect(box(page)).toHaveValue('status:error attributes.env:staging ')
  await expect(title(page)).toContainText('120 calls')
  await page.keyboard.press('Enter')
  await expect(chip(page, 'status is error')).toBeVisible()
  await expect(chip(page, 'attributes.env is staging')).toBeVisible()

  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect(title(page)).toContainText('120 calls')
  await box(page).pressSequentially('refund poli', { delay: 150 })
  await expect(title(page)).toContainText('120 calls')
  expect(searches).toEqual([])
  await page.keyboard.press('Enter')
  await expect(title(page)).not.toContainText('120 calls')
  expect(searches.length).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await expect(title(page)).toContainText('120 calls')
})
