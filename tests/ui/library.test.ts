import type { WireServer } from '../wire/server.ts'
import { post } from './bulk.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { runWeaveOnce } from './weave-client.ts'

interface Published {
  evaluations: Record<string, string>
  link: string
  explained: string
}

const PROJECT = 'local/library'

/** One of every kind of object, published by the real client, and calls that refer to them: tests only read them. */
async function published(server: WireServer): Promise<Published> {
  return (await runWeaveOnce('weave_library.py', server, PROJECT)) as unknown as Published
}

test('links to lists of objects open the library at their kind; an object is found by its name', async ({
  page,
  server,
}) => {
  await published(server)
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
    await page.goto(`/${PROJECT}/weave/${kind}`)
    const row = page.getByRole('grid', { name: title }).getByRole('row', { name })
    await expect(row, kind).toBeVisible()
  }
  await page.goto(`/${PROJECT}/weave/monitors`)
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
  await page.goto(`/${PROJECT}/weave/objects/short`)
  await expect(page.getByRole('tree', { name: 'Value' })).toContainText('in one word')
  for (const [link, heading] of [
    ['threads', 'Threads'],
    ['playground', 'Playground'],
  ] as const) {
    await page.goto(`/${PROJECT}/weave/${link}`)
    await expect(page).toHaveURL(new RegExp(`/${PROJECT}/${link}`))
    await expect(page.getByRole('heading', { name: heading, exact: true })).toBeVisible()
  }
})

test('the links of evaluations open their results', async ({ page, server }) => {
  const { evaluations, link } = await published(server)
  await page.goto(link)
  const summary = page.getByRole('region', { name: 'Summary' })
  await expect(summary.getByRole('row', { name: /Exact/ })).toContainText('4 of 4')
  await summary.getByRole('link', { name: /^eval-/ }).click()
  await expect(page).toHaveURL(/\/calls\//)
  await page.getByRole('link', { name: 'Results', exact: true }).click()
  await expect(summary.getByRole('row', { name: /Exact/ })).toContainText('4 of 4')

  const ids = encodeURIComponent(JSON.stringify(Object.values(evaluations)))
  await page.goto(`/${PROJECT}/weave/compare-evaluations?evaluationCallIds=${ids}`)
  await expect(page.getByRole('heading', { name: '2 evaluations' })).toBeVisible()
  await summary.getByRole('link', { name: /^add-two:/ }).click()
  await expect(page.getByRole('tree', { name: 'Value' })).toContainText('by: 2')
})

test('a leaderboard ranks its models by any of its columns', async ({ page, server }) => {
  const { evaluations } = await published(server)
  await page.goto(`/${PROJECT}/weave/leaderboards/best-adder`)
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
  server,
}) => {
  const { explained } = await published(server)
  await page.goto(`/${PROJECT}/r/call/${explained}`)
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

  await page.goto(`/${PROJECT}/objects/sums/versions/latest`)
  await value.getByRole('link', { name: /^table / }).click()
  await expect(page.getByRole('grid', { name: 'Rows' })).toHaveAttribute('aria-rowcount', '5')
})

test('the library and refs have no serious violation', async ({ page, server }) => {
  await page.goto(`/${PROJECT}-empty/library?kind=leaderboards`)
  await page.getByRole('heading', { name: 'No leaderboards yet' }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  const { explained } = await published(server)
  await page.goto(`/${PROJECT}/library?kind=monitors`)
  await page.getByRole('row', { name: /watcher/ }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto(`/${PROJECT}/calls/${explained}`)
  await page.getByRole('link', { name: /^sums row/ }).waitFor()
  expect(await seriousViolations(page)).toEqual([])
})

test('lists of more objects than a page are whole, and an object of any age is found by its name', async ({
  page,
  project,
  server,
}) => {
  const names = Array.from({ length: 130 }, (_, at) => `obj-${at}`)
  for (const object_id of names)
    await post(server.url, '/obj/create', { obj: { project_id: project, object_id, val: { a: object_id } } })
  for (const name of names.slice(0, 105))
    await post(server.url, `/v2/${project}/datasets`, { name: `data-${name}`, rows: [{ a: 1 }] })
  const limits: number[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/objs/query')) limits.push(request.postDataJSON().limit)
  })
  await page.goto(`/${project}/library`)
  const objects = page.getByRole('grid', { name: 'All objects' })
  await objects.getByRole('row').nth(1).waitFor()
  await page.getByRole('textbox', { name: 'Find by name' }).fill('OBJ-7')
  await expect(objects).toHaveAttribute('aria-rowcount', '23')
  await expect(objects.getByRole('row', { name: /^obj-7 / })).toBeVisible()
  await page.getByRole('textbox', { name: 'Find by name' }).fill('obj-nine')
  await expect(page.getByRole('heading', { name: 'No name has “obj-nine” in it' })).toBeVisible()
  await page.goto(`/${project}/datasets`)
  const datasets = page.getByRole('grid', { name: 'Datasets' })
  await expect(datasets).toHaveAttribute('aria-rowcount', '102')
  await datasets.getByRole('row').nth(1).focus()
  await page.keyboard.press('End')
  await expect(datasets).toHaveAttribute('aria-rowcount', '106')
  await page.keyboard.press('End')
  await expect(datasets.getByRole('row', { name: /data-obj-0 / })).toContainText('1')
  expect(Math.max(...limits)).toBe(100)
})
