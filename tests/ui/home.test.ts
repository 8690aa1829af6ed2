import { loadCalls, post } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'

test('the first run: the lines of a client are copied, a call arrives without a reload', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/?connect=true')
  await page.getByRole('tab', { name: 'OpenTelemetry' }).click()
  await page.getByRole('button', { name: 'Copy OpenTelemetry, shell' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${new URL(page.url()).origin}`)
  await page.getByRole('button', { name: 'Send a test call' }).click()
  await page
    .getByRole('link', { name: /test-call/ })
    .first()
    .click()
  await expect(page).toHaveURL(/\/calls\//)
})

test('projects with what happened in them, the newest first; one leads to its calls', async ({
  page,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 60 })
  await page.goto('/')
  const row = page.getByRole('grid', { name: 'Projects' }).getByRole('row', { name: project })
  await expect(row).toBeVisible()
  await row.click()
  await expect(page).toHaveURL(new RegExp(`/${project}/traces`))
})

test('ages are counted by the clock of the server, also where that of the browser is hours ahead', async ({
  page,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 5 })
  // The newest of them started four hours ago.
  await page.clock.setSystemTime(Date.now() + 5 * 3_600_000)
  await page.goto('/')
  const row = page.getByRole('grid', { name: 'Projects' }).getByRole('row', { name: project })
  await expect(row.locator('time').first()).toHaveText('4 h ago')
})

test('projects without calls are shown, as those of people who only log runs', async ({
  page,
  project,
  server,
}) => {
  await post(server.url, `/v2/${project}/datasets`, { name: 'sums', rows: [{ question: '1 + 1?' }] })
  // Other tests of this server may have written calls.
  await page.route('**/projects/activity', async (route) => {
    const reply = await route.fetch()
    const { projects } = (await reply.json()) as { projects: { last_call_at: string | null }[] }
    await route.fulfill({
      json: { projects: projects.filter(({ last_call_at }) => last_call_at === null), has_more: false },
    })
  })
  await page.goto('/')
  await expect(page.getByRole('grid', { name: 'Projects' }).getByRole('row', { name: project })).toBeVisible()
})

test('a page asks for the projects only when somebody wants to go to another', async ({
  page,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 5 })
  await loadCalls(server.url, `${project}-other`, { count: 5 })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(`/${project}/traces`)
  await page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1).waitFor()
  expect(asked).not.toContain('/projects/activity')
  await page.getByRole('button', { name: `Project: ${project}` }).click()
  await page.getByRole('menuitem', { name: `${project}-other` }).click()
  await expect(page).toHaveURL(new RegExp(`/${project}-other/traces`))
  await page.keyboard.press('ControlOrMeta+k')
  await expect(page.getByRole('option', { name: `Open ${project}`, exact: true })).toBeVisible()
})

test('of more projects than are listed, home says how many there are, and finds any by name, as the palette does', async ({
  page,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 5 })
  await loadCalls(server.url, `${project}-other`, { count: 5 })
  // As if a thousand others had been used since; what is found by name comes from the server.
  await page.route('**/projects/activity', async (route) => {
    const reply = await route.fetch()
    const { projects } = (await reply.json()) as { projects: { project: string }[] }
    const others = projects.filter((one) => `local/${one.project}` !== project)
    await route.fulfill({ json: { projects: others, has_more: true } })
  })
  await page.goto('/')
  await expect(page.getByText('that were used last; others are found by name')).toBeVisible()
  const rows = page.getByRole('grid', { name: 'Projects' }).getByRole('row')
  await expect(rows.filter({ hasText: `${project}-other` })).toBeVisible()
  await page.getByRole('textbox', { name: 'Find by name' }).fill(project.toUpperCase())
  await expect(rows.filter({ hasText: project })).toHaveCount(2)
  await page.getByRole('textbox', { name: 'Find by name' }).fill('no such project')
  await expect(
    page.getByRole('heading', { name: 'No project has “no such project” in its name' }),
  ).toBeVisible()
  await page.getByRole('button', { name: 'Project: ' }).click()
  await page.getByRole('menuitem', { name: 'Find another project' }).click()
  await page.keyboard.type(`open ${project}`)
  await page.getByRole('option', { name: `Open ${project}`, exact: true }).click()
  await expect(page).toHaveURL(new RegExp(`/${project}/traces`))
})

test('what is typed while the palette is loaded goes into it and not to the page', async ({ page }) => {
  const chunk = Promise.withResolvers<void>()
  await page.route('**/command-palette-*.js', async (route) => {
    await chunk.promise
    await route.continue()
  })
  await page.goto('/?connect=true')
  await page.getByRole('heading', { name: 'Point a client here' }).waitFor()
  await page.keyboard.press('ControlOrMeta+k')
  // Alone, these keys open other pages.
  await page.keyboard.type('go to sys')
  const field = page.getByPlaceholder('Go to or do…')
  await expect(field).toHaveValue('go to sys')
  expect(new URL(page.url()).pathname).toBe('/')
  chunk.resolve()
  await expect(page.getByRole('option', { name: 'Go to System' })).toBeVisible()
  await page.keyboard.type('tem')
  await expect(field).toHaveValue('go to system')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/system/)
})

test('home has no serious violation, also where it is opened in dark', async ({ page, project, server }) => {
  await loadCalls(server.url, project, { count: 60 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/')
  await page.getByRole('grid', { name: 'Projects' }).getByRole('row').nth(1).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await page.getByRole('button', { name: 'Connect a client' }).click()
  await page.getByRole('heading', { name: 'Point a client here' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
})

test('names in lists are links: another click than a plain one opens the page of the row elsewhere', async ({
  page,
  context,
  project,
  server,
}) => {
  await loadCalls(server.url, project, { count: 5 })
  await page.goto(`/?find=${project}`)
  const name = page.getByRole('grid', { name: 'Projects' }).getByRole('link', { name: project })
  await expect(name).toHaveAttribute('href', `/${project}/traces`)
  const opened = context.waitForEvent('page')
  await name.click({ modifiers: ['ControlOrMeta'] })
  await expect(await opened).toHaveURL(new RegExp(`/${project}/traces`))
  expect(new URL(page.url()).pathname).toBe('/')
  await name.click()
  const call = page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(1).getByRole('link')
  await expect(call).toHaveAttribute('href', new RegExp(`^/${project}/calls/[^/?]+$`))
  const elsewhere = context.waitForEvent('page')
  await call.click({ button: 'middle' })
  await expect(await elsewhere).toHaveURL(new RegExp(`/${project}/calls/`))
  await expect(page).not.toHaveURL(/open=/)
  await call.click()
  await expect(page).toHaveURL(/open=/)
  await page.keyboard.press('j')
  await expect(page.getByRole('grid', { name: 'Calls' }).getByRole('row').nth(2)).toBeFocused()
})
