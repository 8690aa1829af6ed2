import { type Browser, test as base, expect, type Page } from '@playwright/test'
import { startServer, type WireServer } from '../wire/server.ts'
import { seriousViolations } from './heddle.ts'

/** A server with keys, whose key is that of the user `local`, who belongs to the team `looms`. */
const test = base.extend<{ baseURL: string }, { server: WireServer }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from its first parameter
    async ({}, use) => {
      const env = { HEDDLE_AUTH: 'keys', HEDDLE_CACHE: '/nonexistent/cache' }
      await using server = await startServer(env, { teams: ['looms'] })
      await use(server)
    },
    { scope: 'worker' },
  ],
  baseURL: ({ server }, use) => use(server.url),
})

async function signInByKey(page: Page, key: string): Promise<void> {
  await page.goto('/settings')
  await page.getByRole('textbox', { name: 'API key' }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('tab', { name: 'Keys' })).toBeVisible()
}

/** The page of another browser, which is not signed in. */
async function otherBrowser(browser: Browser, baseURL: string): Promise<Page> {
  return (await browser.newContext({ baseURL })).newPage()
}

/** A key of the operator, who makes a user an operator too. */
async function operatorPage(page: Page, server: WireServer): Promise<void> {
  await server.makeOperator('local')
  await signInByKey(page, server.key)
}

test('a page that asks who one is returns to where one was; a made key works until it is revoked', async ({
  page,
  server,
}) => {
  await page.goto('/settings?tab=members')
  await expect(page.getByRole('heading', { name: 'Sign in to Heddle' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.getByRole('textbox', { name: 'API key' }).fill('heddle_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText('not valid')
  await page.getByRole('textbox', { name: 'API key' }).fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('tab', { name: 'Members', selected: true })).toBeVisible()
  await page.getByRole('tab', { name: 'Keys' }).click()
  await page.getByRole('textbox', { name: 'Name of the key' }).fill('made in the browser')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const key = await page.getByRole('status').locator('pre').textContent()
  const status = async () =>
    (await fetch(`${server.url}/v1/accounts/me`, { headers: { authorization: `Bearer ${key}` } })).status
  expect(await status()).toBe(200)
  await page.getByRole('button', { name: 'Revoke made in the browser' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByRole('button', { name: 'Revoke made in the browser' })).toHaveCount(0)
  expect(await status()).toBe(401)
})

test('an operator adds a user, who signs in by the link, sees the team and may not change it', async ({
  page,
  browser,
  baseURL,
  server,
}) => {
  await operatorPage(page, server)
  await page.getByRole('tab', { name: 'Users' }).click()
  await page.getByRole('textbox', { name: 'Name of a new user' }).fill('vera')
  await page.getByRole('button', { name: 'Add user' }).click()
  const link = await page.getByRole('status').locator('pre').textContent()
  await page.goto('/settings?tab=members&team=looms')
  await page.getByRole('textbox', { name: 'User' }).fill('vera')
  await page.getByRole('combobox', { name: 'Role of the new member' }).click()
  await page.getByRole('option', { name: /Viewer/ }).click()
  await page.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('combobox', { name: 'Role of vera' })).toContainText('Viewer')

  const hers = await otherBrowser(browser, baseURL)
  await hers.goto(link ?? '')
  await expect(hers).toHaveURL(`${baseURL}/`)
  await hers.goto('/settings?tab=members&team=looms')
  await expect(hers.getByText('Admins of looms change its members.')).toBeVisible()
  await hers.getByRole('button', { name: 'Sign out' }).click()
  await expect(hers.getByRole('heading', { name: 'Sign in to Heddle' })).toBeVisible()
  await hers.goto(link ?? '')
  await expect(hers.getByRole('alert')).toContainText('not valid')

  await page.goto('/settings?tab=audit')
  await expect(page.getByRole('cell', { name: 'user.create' }).first()).toBeVisible()
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`settings have no serious violation, ${colorScheme}`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme })
    await operatorPage(page, server)
    for (const name of ['Keys', 'Members', 'Users', 'Audit']) {
      await page.getByRole('tab', { name }).click()
      await expect(page.getByRole('table')).toBeVisible()
      expect(await seriousViolations(page), name).toEqual([])
    }
  })
