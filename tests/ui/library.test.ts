import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient, type WireServer } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'

interface Published {
  evaluations: Record<string, string>
  link: string
  explained: string
}

/** One of every kind of object, published by the real client, and calls that refer to them. */
async function published(server: WireServer, project: string): Promise<Published> {
  const said = await runClient([pythonIn('clients'), clientProgram('weave_library.py')], {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: KEY,
    WEAVE_SERVER_CACHE_DIR: `${server.folder}/weave-cache-${project.replace('/', '-')}`,
    PROJECT: project,
  })
  return said as unknown as Published
}

test('links to lists of objects open the library at their kind; an object is found by its name', async ({
  page,
  project,
  server,
}) => {
  await published(server, project)
  for (const [kind, title, name] of [
    ['objects', 'All objects', /settings/],
    ['ops', 'Ops', /explain/],
    ['models', 'Models', /add-two/],
    ['prompts', 'Prompts', /short/],
    ['scorers', 'Scorers', /Exact/],
    ['monitors', 'Monitors', /watcher/],
    ['leaderboards', 'Leaderboards', /best-adder/],
    ['datasets', 'Datasets', /sums/],
  ] as const) {
    await page.goto(`/${project}/weave/${kind}`)
    const row = page.getByRole('grid', { name: title }).getByRole('row', { name })
    await expect(row, kind).toBeVisible()
  }
  await page.goto(`/${project}/weave/monitors`)
  await expect(page.getByRole('row', { name: /watcher/ })).toContainText('Exact is Python code')
  await page.getByRole('row', { name: /watcher/ }).click()
  const monitor = page.getByRole('region', { name: 'Monitor' })
  await expect(monitor).toContainText('does not work')
  await expect(monitor).toContainText('Exact is Python code')

  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Library' }).click()
  const list = page.getByRole('grid', { name: 'All objects' })
  await page.getByRole('textbox', { name: 'Find by name' }).fill('SETT')
  await expect(list.getByRole('row')).toHaveCount(2)
  const settings = list.getByRole('row', { name: /settings/ })
  await expect(settings).toContainText('checked')
  await settings.click()
  await expect(page.getByRole('tree', { name: 'Value' })).toContainText('0.2')
  await expect(page.getByRole('combobox', { name: 'Version' })).toContainText('v1, the newest')
  await page.goto(`/${project}/weave/objects/short`)
  await expect(page.getByRole('tree', { name: 'Value' })).toContainText('in one word')
  for (const [link, heading] of [
    ['threads', 'Threads'],
    ['playground', 'Playground'],
  ] as const) {
    await page.goto(`/${project}/weave/${link}`)
    await expect(page).toHaveURL(new RegExp(`/${project}/${link}`))
    await expect(page.getByRole('heading', { name: heading, exact: true })).toBeVisible()
  }
})

test('the links of evaluations open their results', async ({ page, project, server }) => {
  const { evaluations, link } = await published(server, project)
  await page.goto(link)
  const summary = page.getByRole('region', { name: 'Summary' })
  await expect(summary.getByRole('row', { name: /Exact/ })).toContainText('4 of 4')
  await summary.getByRole('link', { name: /^eval-/ }).click()
  await expect(page).toHaveURL(/\/calls\//)
  await page.getByRole('link', { name: 'Results', exact: true }).click()
  await expect(summary.getByRole('row', { name: /Exact/ })).toContainText('4 of 4')

  const ids = encodeURIComponent(JSON.stringify(Object.values(evaluations)))
  await page.goto(`/${project}/weave/compare-evaluations?evaluationCallIds=${ids}`)
  await expect(page.getByRole('heading', { name: '2 evaluations' })).toBeVisible()
  await summary.getByRole('link', { name: /^add-two:/ }).click()
  await expect(page.getByRole('tree', { name: 'Value' })).toContainText('by: 2')
})

test('a leaderboard ranks its models by any of its columns', async ({ page, project, server }) => {
  const { evaluations } = await published(server, project)
  await page.goto(`/${project}/weave/leaderboards/best-adder`)
  const models = page.getByRole('grid', { name: 'Models' })
  const first = models.getByRole('row').nth(1)
  await expect(page.getByText('Who adds two')).toBeVisible()
  await expect(models.getByRole('row')).toHaveCount(3)
  await expect(first).toContainText('add-two')
  await models.getByRole('button', { name: 'NearEnough distance.mean' }).click()
  await expect(page).toHaveURL(/by=1/)
  await expect(first).toContainText('add-two')
  await models.getByRole('button', { name: 'NearEnough distance.mean' }).click()
  await expect(first).toContainText('add-one')
  expect(await seriousViolations(page)).toEqual([])
  await models
    .getByRole('row', { name: /add-two/ })
    .getByRole('gridcell')
    .last()
    .click()
  await expect(page).toHaveURL(new RegExp(String(evaluations['add-two'])))
})

test('refs are links: in the inputs of a call, in an object, by a click and by a key', async ({
  page,
  project,
  server,
}) => {
  const { explained } = await published(server, project)
  await page.goto(`/${project}/r/call/${explained}`)
  const inputs = page.getByRole('tree', { name: 'Inputs' })
  await inputs.getByRole('link', { name: /^sums row/ }).click()
  const row = page.getByRole('complementary', { name: 'row' })
  await expect(row.getByRole('heading', { name: 'Row 3' })).toBeVisible()
  await expect(row.getByRole('tree', { name: 'Row' })).toContainText('expected: 4')

  await page.goBack()
  await inputs.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/objects\/add-two\/versions\//)
  const value = page.getByRole('tree', { name: 'Value' })
  await value.getByRole('link', { name: /^Adder\.predict:/ }).click()
  await expect(page.getByRole('region', { name: 'Code' })).toContainText('return a + self.by')

  await page.goto(`/${project}/objects/sums/versions/latest`)
  await value.getByRole('link', { name: /^table / }).click()
  await expect(page.getByRole('grid', { name: 'Rows' })).toHaveAttribute('aria-rowcount', '5')
})

for (const colorScheme of ['light', 'dark'] as const)
  test(`the library and refs have no serious violation, ${colorScheme}`, async ({
    page,
    project,
    server,
  }) => {
    await page.emulateMedia({ colorScheme })
    await page.goto(`/${project}/library?kind=leaderboards`)
    await page.getByRole('heading', { name: 'No leaderboards yet' }).waitFor()
    expect(await seriousViolations(page)).toEqual([])
    const { explained } = await published(server, project)
    await page.goto(`/${project}/library?kind=monitors`)
    await page.getByRole('row', { name: /watcher/ }).waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await page.goto(`/${project}/calls/${explained}`)
    await page.getByRole('link', { name: /^sums row/ }).waitFor()
    expect(await seriousViolations(page)).toEqual([])
  })
