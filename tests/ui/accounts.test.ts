import { type Browser, test as base, expect, type Page } from '@playwright/test'
import { startServer, type WireServer } from '../wire/server.ts'
import { seriousViolations } from './heddle.ts'

/** A server with keys, whose key is that of the user `local`, who belongs to the team `looms`. */
const test = base.extend<{ baseURL: string }, { server: WireServer }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from its first parameter
    async ({}, use) => {
      const env = {
        HEDDLE_AUTH: 'keys',
        HEDDLE_CACHE: '/nonexistent/cache',
        HEDDLE_SCORER_HOSTS: 'models.internal',
      }
      await using server = await startServer(env, { teams: ['looms'] })
      await use(server)
    },
    { scope: 'worker' },
  ],
  baseURL: ({ server }, use) => use(server.url),
})

/** Opens one of the settings. */
function open(page: Page, name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true }).click()
}

async function choose(page: Page, { label, option }: { label: string; option: string | RegExp }) {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option }).click()
}

async function signInByKey(page: Page, key: string): Promise<void> {
  await page.goto('/settings')
  await page.getByRole('textbox', { name: 'API key' }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Your keys' })).toBeVisible()
}

/** The page of another browser, which is not signed in. */
async function otherBrowser(browser: Browser, baseURL: string): Promise<Page> {
  return (await browser.newContext({ baseURL })).newPage()
}

/** Signs an operator in, who is an admin of `looms` too. */
async function operatorPage(page: Page, server: WireServer): Promise<void> {
  await server.makeOperator('local')
  await signInByKey(page, server.key)
}

/** Adds a user as a viewer of `looms`, signed in in another browser. */
async function viewerPage(
  page: Page,
  { browser, baseURL }: { browser: Browser; baseURL: string },
  name: string,
) {
  await page.goto('/settings?tab=users')
  await page.getByRole('textbox', { name: 'Name of a new user' }).fill(name)
  await page.getByRole('button', { name: 'Add user' }).click()
  const link = (await page.getByRole('status').locator('pre').textContent()) ?? ''
  await page.goto('/settings?tab=members&team=looms')
  await page.getByRole('textbox', { name: 'Name of the new member' }).fill(name)
  await choose(page, { label: 'Role of the new member', option: /Viewer/ })
  await page.getByRole('button', { name: 'Add member' }).click()
  await expect(page.getByRole('combobox', { name: `Role of ${name}` })).toContainText('Viewer')
  const hers = await otherBrowser(browser, baseURL)
  await hers.goto(link)
  await expect(hers).toHaveURL(`${baseURL}/`)
  return { hers, link }
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
  await expect(page.getByRole('heading', { name: 'Members' })).toBeVisible()
  await open(page, 'Keys')
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

test('an operator adds a user, who signs in by the link, sees the team and may change nothing of it', async ({
  page,
  browser,
  baseURL,
  server,
}) => {
  await operatorPage(page, server)
  const { hers, link } = await viewerPage(page, { browser, baseURL }, 'vera')
  await hers.goto('/settings?tab=members&team=looms')
  for (const [name, text] of [
    ['Members', 'Admins of looms change its members'],
    ['Limits', 'Operators of this server change them'],
    ['Budgets', 'Admins of looms change its budgets'],
    ['Providers', 'Admins of looms change its providers'],
  ] as const) {
    await open(hers, name)
    await choose(hers, { label: 'Team', option: 'looms' })
    await expect(hers.getByText(text)).toBeVisible()
  }
  // What a page keeps until its tab is closed, as the playground does.
  await hers.evaluate(() => sessionStorage.setItem('heddle.kept', '1'))
  const session = '**/v1/accounts/session'
  await hers.route(session, (route) => route.fulfill({ status: 503, json: { detail: 'Disk full' } }))
  await hers.getByRole('button', { name: 'Sign out' }).first().click()
  await expect(hers.getByText('Signing out failed')).toBeVisible()
  await expect(hers.getByText('Disk full')).toBeVisible()
  await hers.unroute(session)
  await hers.getByRole('button', { name: 'Sign out' }).first().click()
  await expect(hers.getByRole('heading', { name: 'Sign in to Heddle' })).toBeVisible()
  await expect.poll(() => hers.evaluate(() => Object.keys(sessionStorage))).toEqual([])
  await hers.goto(link)
  await expect(hers.getByRole('alert')).toContainText('not valid')
  await page.goto('/settings?tab=audit')
  await expect(page.getByText('user.create').first()).toBeVisible()
})

test('settings that another tab has changed are not replaced, and what is typed stays', async ({
  page,
  server,
}) => {
  await operatorPage(page, server)
  await page.goto('/looms/twice/settings?tab=retention')
  const other = await page.context().newPage()
  await other.goto('/looms/twice/settings?tab=retention')
  const days = (tab: Page, of: string) => tab.getByRole('textbox', { name: `Days for ${of}`, exact: true })
  await days(page, 'Logs of runs').fill('30')
  await days(other, 'Calls').fill('365')
  await other.getByRole('button', { name: 'Save' }).click()
  await other.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(other.getByText('The retention was changed')).toBeVisible()
  await expect(other.getByText('These settings were changed after they were loaded')).toHaveCount(0)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('were changed after they were read')).toBeVisible()
  await expect(days(page, 'Logs of runs')).toHaveValue('30')
  await page.getByRole('button', { name: 'Show what is stored' }).click()
  await expect(days(page, 'Calls')).toHaveValue('365')
  await expect(days(page, 'Logs of runs')).toHaveValue('')
})

test('a session that ends leaves what is being written to the person who comes back, and nothing to another', async ({
  page,
  browser,
  baseURL,
  server,
}) => {
  await operatorPage(page, server)
  const { hers } = await viewerPage(page, { browser, baseURL }, 'wilma')
  await hers.close()
  await page.goto('/looms/ends/settings?tab=redaction')
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('textbox', { name: /^Name/ }).first().fill('ticket numbers')
  const signIn = page.getByRole('dialog', { name: 'Sign in' })
  const end = async () => {
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(signIn.getByRole('heading', { name: 'Sign in to Heddle' })).toBeVisible()
  }
  const enter = async (key: string) => {
    await signIn.getByRole('textbox', { name: 'API key' }).fill(key)
    await signIn.getByRole('button', { name: 'Sign in' }).click()
    await expect(signIn).toHaveCount(0)
  }
  await end()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await expect(signIn).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await enter(server.key)
  await expect(page.getByRole('textbox', { name: /^Name/ }).first()).toHaveValue('ticket numbers')
  await expect(page.getByRole('button', { name: 'Account: local' })).toBeVisible()

  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const made = await fetch(`${server.url}/v1/accounts/keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'hers', user: 'wilma' }),
  })
  const { key } = (await made.json()) as { key: string }
  await end()
  await enter(key)
  await expect(page.getByRole('button', { name: 'Account: wilma' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Redaction' })).toBeVisible()
  await expect(page.getByRole('textbox', { name: /^Name/ })).toHaveCount(0)
})

test('a sign-in link asks before it replaces a session, and then no tab acts for the other person', async ({
  page,
  browser,
  baseURL,
  server,
}, { repeatEachIndex }) => {
  const [xenia, yuri] = [`xenia-${repeatEachIndex}`, `yuri-${repeatEachIndex}`]
  await operatorPage(page, server)
  const { hers } = await viewerPage(page, { browser, baseURL }, xenia)
  await page.goto('/settings?tab=users')
  await page.getByRole('textbox', { name: 'Name of a new user' }).fill(yuri)
  await page.getByRole('button', { name: 'Add user' }).click()
  const link = (await page.getByRole('status').locator('pre').textContent()) ?? ''
  await hers.goto('/settings?tab=keys')
  await hers.getByRole('textbox', { name: 'Name of the key' }).fill('made in the first tab')
  const stale = await hers.context().newPage()
  await stale.goto('/settings?tab=keys')
  await expect(stale.getByRole('heading', { name: 'Your keys' })).toBeVisible()
  const other = await hers.context().newPage()
  await other.goto(link)
  await expect(other.getByRole('heading', { name: `You are signed in as ${xenia}` })).toBeVisible()
  expect(await seriousViolations(other)).toEqual([])
  await other.getByRole('button', { name: `Stay signed in as ${xenia}` }).click()
  await expect(other.getByRole('button', { name: `Account: ${xenia}` })).toBeVisible()
  await other.goto(link)
  await other.getByRole('button', { name: 'Sign in by the link' }).click()
  await expect(other.getByRole('button', { name: `Account: ${yuri}` })).toBeVisible()
  await stale.getByRole('button', { name: 'Sign out' }).first().click()
  await expect(stale.getByRole('button', { name: `Account: ${yuri}` })).toBeVisible()
  await other.goto(link)
  await other.getByRole('button', { name: 'Sign in by the link' }).click()
  await expect(other.getByRole('alert')).toContainText('not valid')
  await other.getByRole('button', { name: `Stay signed in as ${yuri}` }).click()
  await expect(other.getByRole('button', { name: `Account: ${yuri}` })).toBeVisible()
  const sent = hers.waitForResponse(
    (response) => response.url().endsWith('/v1/accounts/keys') && response.request().method() === 'POST',
  )
  await hers.getByRole('button', { name: 'Make a key' }).click()
  expect((await sent).status()).toBe(401)
  await expect(hers.getByRole('button', { name: `Account: ${yuri}` })).toBeVisible()
  await other.goto('/settings?tab=keys')
  await expect(other.getByRole('heading', { name: 'Your keys' })).toBeVisible()
  await expect(other.getByRole('button', { name: 'Revoke made in the first tab' })).toHaveCount(0)
})

test('a key whose answer is lost on the way is not made a second time, and the page says to look', async ({
  page,
  server,
}) => {
  await signInByKey(page, server.key)
  let sent = 0
  await page.route('**/v1/accounts/keys', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    sent++
    await route.fetch()
    return route.abort('connectionreset')
  })
  await page.getByRole('textbox', { name: 'Name of the key' }).fill('lost on the way')
  await page.getByRole('button', { name: 'Make a key' }).click()
  await expect(page.getByText('may have been made all the same')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('button', { name: 'Revoke lost on the way' })).toHaveCount(1)
  expect(sent).toBe(1)
})

test('limits and budgets of a team are set, are in force, and say what is used', async ({ page, server }) => {
  await operatorPage(page, server)
  await page.goto('/settings?tab=limits&team=looms')
  await page.getByRole('textbox', { name: 'Limit of Request size' }).fill('many')
  await expect(page.getByRole('alert')).toContainText('whole numbers')
  await page.getByRole('textbox', { name: 'Limit of Request size' }).fill('1,000')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The limits were changed')).toBeVisible()
  const body = JSON.stringify({ project_id: 'looms/p', filter: { op_names: ['x'.repeat(1000)] } })
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const refused = await fetch(`${server.url}/calls/query_stats`, { method: 'POST', headers, body })
  expect(refused.status).toBe(413)
  await page.getByRole('textbox', { name: 'Limit of Request size' }).fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled()

  await open(page, 'Budgets')
  await choose(page, { label: 'Team', option: 'looms' })
  await choose(page, { label: 'What the budget is of', option: 'Of a key' })
  await page.getByRole('textbox', { name: 'Id of the key' }).fill('unknown-key')
  await page.getByRole('textbox', { name: 'Amount' }).fill('1,50')
  await expect(page.getByRole('alert')).toContainText('such as 1,000')
  await expect(page.getByRole('button', { name: 'Add budget' })).toBeDisabled()
  await page.getByRole('textbox', { name: 'Amount' }).fill('1.50')
  await page.getByRole('button', { name: 'Add budget' }).click()
  await expect(page.getByText('The budgets were not changed')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Id of the key' })).toHaveValue('unknown-key')
  await expect(page.getByRole('textbox', { name: 'Amount' })).toHaveValue('1.50')
  await choose(page, { label: 'What the budget is of', option: 'Of a project' })
  await page.getByRole('textbox', { name: 'Name of the project' }).fill('p')
  await page.getByRole('textbox', { name: 'Amount' }).fill('5,000')
  await page.getByRole('button', { name: 'Add budget' }).click()
  await expect(page.getByRole('row', { name: 'looms/p' })).toContainText('5,000 tokens')
  await choose(page, { label: 'What the budget is of', option: 'Of the whole team' })
  await choose(page, { label: 'Unit', option: /dollars/ })
  await page.getByRole('textbox', { name: 'Amount' }).fill('12.5')
  await page.getByRole('button', { name: 'Add budget' }).click()
  await expect(page.getByRole('row', { name: 'the whole team' })).toContainText('$12.5')
  await page.getByRole('button', { name: 'Remove the budget of looms/p' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByRole('row', { name: 'looms/p' })).toHaveCount(0)
  await expect(page.getByRole('row', { name: 'the whole team' })).toBeVisible()
})

test('a provider of a team is added, refused at a private address, and removed', async ({ page, server }) => {
  await operatorPage(page, server)
  await page.goto('/settings?tab=providers&team=looms')
  await page.getByRole('textbox', { name: 'Name of the provider' }).fill('outside')
  await page.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:1/v1')
  await page.getByRole('textbox', { name: 'Key' }).fill('sk-secret')
  await page.getByRole('button', { name: 'Add provider' }).click()
  await expect(page.getByText('The provider was not added')).toBeVisible()
  await page.getByRole('textbox', { name: 'Address' }).fill('https://models.internal/v1')
  await page.getByRole('button', { name: 'Add provider' }).click()
  const row = page.getByRole('row', { name: 'outside' })
  await expect(row).toContainText('stored')
  await expect(page.getByText('sk-secret')).toHaveCount(0)
  await page.getByRole('button', { name: 'Remove outside' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(row).toHaveCount(0)
})

test('rules of redaction are tried and saved, days of retention are confirmed, and a project is erased', async ({
  page,
  server,
}) => {
  await operatorPage(page, server)
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const send = (path: string, body: object) =>
    fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const start = {
    project_id: 'looms/erased',
    op_name: 'op',
    started_at: new Date().toISOString(),
    attributes: {},
    inputs: { text: 'before' },
  }
  await send('/call/start', { start })
  await page.goto('/looms/erased/settings?tab=redaction')
  await page.getByRole('button', { name: 'Add a rule' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The rules were changed')).toBeVisible()
  await page.getByRole('button', { name: 'Try' }).click()
  await expect(
    page
      .getByRole('status')
      .filter({ hasText: 'what is stored' })
      .or(page.getByText(/Found by|No rule found/)),
  ).toBeVisible()
  await open(page, 'Retention')
  await page
    .getByRole('textbox', { name: /Days for/ })
    .first()
    .fill('30')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('The retention was changed')).toBeVisible()
  await open(page, 'Erasure')
  await page.getByRole('button', { name: 'Erase the project …' }).click()
  await page.getByRole('textbox', { name: 'Type erased to confirm' }).fill('erased')
  await page.getByRole('button', { name: 'Erase the project', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Receipts' })).toBeVisible()
  const counted = await send('/calls/query_stats', { project_id: 'looms/erased' })
  expect(await counted.text()).not.toContain('"count":1')
})

test('settings have no serious violation', async ({ page, server }) => {
  await operatorPage(page, server)
  for (const name of [
    'Keys',
    'Members',
    'Limits',
    'Budgets',
    'Providers',
    'Teams',
    'Users',
    'Audit',
    'Receipts',
  ]) {
    await open(page, name)
    await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible()
    expect(await seriousViolations(page), name).toEqual([])
  }
  for (const tab of ['redaction', 'retention', 'erasure']) {
    await page.goto(`/looms/looks/settings?tab=${tab}`)
    await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible()
    expect(await seriousViolations(page), tab).toEqual([])
  }
})
