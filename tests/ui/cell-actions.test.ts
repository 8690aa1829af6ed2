import { post } from './bulk.ts'
import { expect, test } from './heddle.ts'
import { grid, title } from './traces-page.ts'

test('the conditions of a cell match its own call, and a copy has all of it', async ({
  page,
  server,
  project,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const id = crypto.randomUUID()
  const long = `${'one  line\n'.repeat(40)}end`
  const inputs = {
    lines: 'first line\nsecond  line',
    long,
    object: { a: 1 },
    list: ['x', 'y'],
    nothing: null,
    whole: 5,
    small: 1e-7,
    flag: true,
  }
  const times = { started_at: '2026-01-01T10:00:00.000100Z', ended_at: '2026-01-01T10:00:00.012445Z' }
  const call = {
    id,
    trace_id: id,
    op_name: 'ask',
    ...times,
    inputs,
    output: null,
    attributes: {},
    summary: {},
  }
  await post(server.url, `/v2/${project}/calls/complete`, { batch: [call] })
  const names = Object.keys(inputs)
  const columns = JSON.stringify(['op', 'latency_ms', ...names.map((name) => `inputs.${name}`)])
  await page.addInitScript(
    ([key, value]) => localStorage.setItem(String(key), String(value)),
    [`heddle.columns.${project}`, columns],
  )
  const list = `/${project}/traces?range=all`
  await page.goto(list)
  await expect(title(page)).toContainText('1 call')
  const openMenu = async (name: string) => {
    await page.goto(list)
    await expect(grid(page).getByRole('row').nth(1)).toContainText('ask')
    const titles = await page.getByRole('columnheader').allTextContents()
    await grid(page).getByRole('row').nth(1).getByRole('gridcell').nth(titles.indexOf(name)).hover()
    await page
      .getByRole('button', { name: `What can be done with this cell of ${name}`, exact: true })
      .click()
  }
  const wanted = {
    Latency: ['latency_ms ≥ 12', 'latency_ms ≤ 13'],
    lines: ['inputs.lines is first line second line'],
    long: [/inputs.long contains/],
    object: ['inputs.object is there'],
    list: ['inputs.list is there'],
    nothing: ['inputs.nothing is missing'],
    whole: ['inputs.whole is 5'],
    small: ['inputs.small is 1e-7'],
    flag: ['inputs.flag is true'],
  }
  for (const [name, items] of Object.entries(wanted))
    for (const item of items) {
      await openMenu(name)
      await page.getByRole('menuitem', { name: item, exact: true }).click()
      await expect(title(page), String(item)).toContainText('1 call')
      await expect(page.getByRole('button', { name: /^Drop/ }).first()).toBeVisible()
      await expect(grid(page).getByRole('row').nth(1), String(item)).toContainText('ask')
    }
  for (const [name, copied] of [
    ['long', long],
    ['object', '{"a":1}'],
  ] as const) {
    await openMenu(name)
    await page.getByRole('menuitem', { name: 'Copy' }).click()
    await expect(page.getByText('Cell copied')).toBeVisible()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copied)
  }
})
