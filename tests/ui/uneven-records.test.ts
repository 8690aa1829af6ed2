import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient, type WireServer } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'

async function written(server: WireServer, project: string): Promise<void> {
  await runClient([pythonIn('clients'), clientProgram('uneven_records.py')], {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: KEY,
    WEAVE_SERVER_CACHE_DIR: `${server.folder}/weave-cache-${project.replace('/', '-')}`,
    WANDB_ERROR_REPORTING: 'false',
    PROJECT: project,
  })
}

test('a dataset shows the columns of all its rows, and a log scale says what it leaves out', async ({
  page,
  project,
  server,
}) => {
  await written(server, project)
  await page.goto(`/${project}/datasets?name=uneven`)
  const rows = page.getByRole('grid', { name: 'Rows' })
  await expect(rows.getByRole('columnheader', { name: 'note' })).toBeVisible()
  await expect(rows.getByRole('columnheader', { name: 'question' })).toBeVisible()

  await page.goto(`/${project}/runs/losses`)
  const loss = page.getByRole('figure', { name: 'loss' })
  await expect(loss).toBeVisible()
  await expect(loss).not.toContainText('0 or below')
  await page.getByRole('button', { name: 'Log scale' }).click()
  await expect(loss).toContainText('6 values are 0 or below')
  await expect(page.getByRole('figure', { name: 'time', exact: true })).not.toContainText('0 or below')
  await expect(page.getByRole('region', { name: 'Alerts' })).toContainText('Losses are odd')
  expect(await seriousViolations(page)).toEqual([])
})
