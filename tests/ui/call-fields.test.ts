import { expect, seriousViolations, test } from './heddle.ts'
import { title } from './traces-page.ts'
import { runWeave } from './weave-client.ts'

test('what only older calls of another op have is offered: as a field with its values, as a term, as a column', async ({
  page,
  project,
  server,
}) => {
  await runWeave('weave_old_fields.py', server, project)
  await page.goto(`/${project}/traces`)
  await expect(title(page)).toContainText('320 calls')

  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('combobox', { name: 'Field' }).fill('country')
  await page.getByRole('option', { name: /inputs\.customer\.country/ }).click()
  await page.getByRole('combobox', { name: 'Value' }).focus()
  await expect(page.getByRole('option', { name: 'Peru 80' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.getByRole('option', { name: 'Greece 40' }).click()
  await expect(title(page)).toContainText('40 calls')
  await page.getByRole('button', { name: 'Drop inputs.customer.country is Greece' }).click()
  await expect(title(page)).toContainText('320 calls')

  const box = page.getByRole('combobox', { name: 'Search calls' })
  await box.fill('country')
  await page.getByRole('option', { name: /inputs\.customer\.country:/ }).click()
  await page.getByRole('option', { name: /country:Peru/ }).click()
  await page.keyboard.press('Enter')
  await expect(title(page)).toContainText('80 calls')

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('textbox', { name: 'Find a column' }).fill('country')
  const column = page.getByRole('checkbox', { name: /customer\.country (Peru|Greece) · in 120/ })
  await column.click()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('columnheader', { name: 'customer.country' })).toBeVisible()
  await expect(page.getByRole('grid').getByRole('row').nth(1)).toContainText('Peru')
})
