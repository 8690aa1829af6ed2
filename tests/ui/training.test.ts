import type { Page } from '@playwright/test'
import { pythonIn } from '../../scripts/python-environments.ts'
import { startServer, type WireServer } from '../wire/server.ts'
import { post } from './bulk.ts'
import { type DemoTraining, startDemoTraining } from './demo-training.ts'
import { test as base, expect, seriousViolations } from './heddle.ts'

/**
 * After so many steps the reward of the demo has clearly risen, from .1 to some .7 (after six it is between .1 and .6),
 * and some answers are still wrong.
 */
const STEPS = 8

/** The engine starts, and the demo trains: a minute and a half on two cores, some times that beside other work. */
const TRAINING_MS = 600_000

/** A server with an engine, on which a model is being trained from the moment on that a test asks for it. */
const test = base.extend<object, { server: WireServer; training: DemoTraining }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from its first parameter
    async ({}, use) => {
      await using server = await startServer({ HEDDLE_ENGINE_PYTHON: pythonIn('engine') })
      await use(server)
    },
    { scope: 'worker' },
  ],
  training: [
    async ({ server }, use) => {
      await using training = startDemoTraining(server, { steps: STEPS })
      await use(training)
    },
    { scope: 'worker' },
  ],
})

test.describe.configure({ mode: 'serial' })
test.setTimeout(TRAINING_MS)
// What is not there must fail by itself, and not with the whole test.
test.use({ actionTimeout: 30_000 })

const figure = (page: Page, title: string) => page.getByRole('figure', { name: title, exact: true })

/** First and last value of a chart, and the last step, from its alternative text. */
async function curve(page: Page, title: string): Promise<{ steps: number; first: number; last: number }> {
  const text = (await figure(page, title).textContent()) ?? ''
  const [, steps = '0', first = '0', last = '0'] =
    /over step [\d.]+ to ([\d.]+): .*? from (\S+) to ([^.;]+(?:\.\d+)?)/.exec(text) ?? []
  return { steps: Number(steps), first: Number(first), last: Number(last) }
}

test('watch the reward of a model rise while it is trained', async ({ page, training }) => {
  await page.goto('/local/demo/training')
  const row = page.getByRole('grid', { name: 'Models' }).getByRole('row').filter({ hasText: 'sums-' })
  await expect(row, training.output()).toBeVisible({ timeout: 120_000 })
  await row.click()
  await expect(figure(page, 'Reward')).toBeVisible({ timeout: 400_000 })
  const early = await curve(page, 'Reward')
  // Points come by themselves: nothing is loaded again.
  await expect
    .poll(async () => (await curve(page, 'Reward')).steps, { timeout: 400_000, message: training.output() })
    .toBe(STEPS)
  const late = await curve(page, 'Reward')
  expect(late.steps).toBeGreaterThan(early.steps)
  expect(late.last).toBeGreaterThan(late.first)
  await expect(figure(page, 'Entropy')).toBeVisible()
  await expect(figure(page, 'Log-probability gap')).toContainText('Between sampler and trainer')
  await page.getByRole('slider', { name: 'Smoothing' }).fill('0.6')
  await expect(page).toHaveURL(/smooth=0\.6/)
  expect(await training.ended, training.output()).toBe(0)
})

async function openModel(page: Page, view: string): Promise<void> {
  await page.goto('/local/demo/training')
  await page.getByRole('grid', { name: 'Models' }).getByRole('row').filter({ hasText: 'sums-' }).click()
  await page.getByRole('tab', { name: view }).click()
}

test('go through the groups of a step, the attempts of a group and the tokens of an attempt by keys', async ({
  page,
}) => {
  await openModel(page, 'Trajectories')
  const groups = page.getByRole('grid', { name: 'Groups' }).getByRole('row')
  await expect(groups.nth(1)).toContainText('What is')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const panel = page.getByRole('complementary', { name: 'group' })
  await expect(panel.getByRole('radio', { checked: true })).toHaveAccessibleName(/reward 1$/)
  await expect(panel.getByText('ended by stop')).toBeVisible()
  for (let attempt = 1; attempt < 8; attempt++) await page.keyboard.press(']')
  await expect(panel.getByRole('radio', { checked: true })).toHaveAccessibleName(/Attempt \d, reward 0/)
  for (let attempt = 1; attempt < 8; attempt++) await page.keyboard.press('[')
  await page.keyboard.press('t')
  await expect(panel.getByRole('region', { name: 'Tokens' })).toContainText('assistant', { timeout: 60_000 })
  await panel.getByText('answer', { exact: true }).hover()
  await expect(panel.getByText('yes', { exact: true })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByText(`Step ${STEPS - 1} of ${STEPS}`)).toBeVisible()
  await expect(panel).toBeVisible()
  await page.reload()
  await expect(panel.getByRole('region', { name: 'Tokens' })).toContainText('assistant', { timeout: 60_000 })
})

test('tag a step, and delete another one after a question', async ({ page }) => {
  await openModel(page, 'Steps')
  const rows = page.getByRole('grid', { name: 'Steps' }).getByRole('row')
  await expect(rows).toHaveCount(STEPS + 2)
  await rows.nth(1).click()
  const panel = page.getByRole('complementary', { name: 'step' })
  await panel.getByRole('textbox', { name: 'Add a tag' }).fill('production')
  await page.keyboard.press('Enter')
  await expect(rows.nth(1)).toContainText('production')
  const saving = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Download adapter_model.safetensors' }).click()
  expect((await saving).suggestedFilename()).toMatch(new RegExp(`step${STEPS}-adapter_model\\.safetensors$`))
  await rows.filter({ has: page.getByRole('gridcell', { name: '2', exact: true }) }).click()
  await expect(panel.getByRole('heading', { name: 'Step 2' })).toBeVisible()
  await panel.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(rows).toHaveCount(STEPS + 1)
})

test('see what a job did, phase by phase', async ({ page }) => {
  await openModel(page, 'Jobs')
  const job = page.getByRole('grid', { name: 'Jobs' }).getByRole('row').nth(1)
  await expect(job).toContainText('succeeded')
  await job.click()
  await expect(page.getByRole('heading', { name: `Job of step ${STEPS}` })).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: 'succeeded' })).toHaveAttribute(
    'aria-current',
    'step',
  )
  await expect(figure(page, 'Loss')).toContainText('gradient step')
  expect(await seriousViolations(page)).toEqual([])
})

test('chat with two steps side by side, and see what is other', async ({ page }) => {
  await openModel(page, 'Curves')
  await page.getByRole('button', { name: 'First and last, side by side' }).click()
  await page.getByRole('button', { name: 'Settings' }).click()
  await page.getByRole('textbox', { name: /^max_tokens/ }).fill('24')
  await page.getByRole('textbox', { name: /^temperature/ }).fill('0')
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Message to all columns' }).fill('What is 12 + 30?')
  await page.keyboard.press('Enter')
  const columns = page.getByRole('region', { name: /^Column of/ })
  await expect(columns).toHaveCount(2)
  for (const [index, step] of [0, STEPS].entries()) {
    const answer = columns.nth(index).getByRole('article', { name: 'assistant' })
    await expect(answer).toContainText(`step ${step}`, { timeout: 60_000 })
    await expect(answer).toContainText('24 in')
  }
  await page.getByRole('button', { name: 'Differences' }).click()
  await expect(
    columns.nth(1).locator('ins, del').or(columns.nth(1).getByText('{"answer"')).first(),
  ).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.reload()
  await expect(columns.nth(1).getByRole('article', { name: 'assistant' })).toContainText(`step ${STEPS}`)
  await columns.nth(0).getByRole('button', { name: 'Ask again' }).click()
  await expect(columns.nth(0).getByRole('article', { name: 'assistant' })).toContainText('24 in', {
    timeout: 60_000,
  })
})

test('ask again what a trajectory asked', async ({ page }) => {
  await openModel(page, 'Trajectories')
  const group = page.getByRole('grid', { name: 'Groups' }).getByRole('row').nth(1)
  await expect(group).toContainText('What is')
  await group.click()
  await page.getByRole('link', { name: 'replay' }).click()
  await expect(page.getByText(/not taken over: sampling parameters/)).toBeVisible()
  const sampledBy = STEPS - 1
  const column = page.getByRole('region', {
    name: new RegExp(`^Column of local/demo/sums-.*:step${sampledBy}$`),
  })
  await expect(column.getByRole('article', { name: 'user' })).toContainText('What is')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await expect(column.getByRole('article', { name: 'assistant' })).toContainText(`step ${sampledBy}`, {
    timeout: 60_000,
  })
})

test('the system shows its engines, and that every row is accounted for', async ({ page }) => {
  await page.goto('/system')
  await expect(page.getByRole('region', { name: 'heddle/loom-tiny' })).toContainText('ready')
  const bar = await page.getByRole('img', { name: /rows accepted/ }).getAttribute('aria-label')
  const [accepted = 0, ...parts] = (bar ?? '').replaceAll(',', '').match(/\d+/g)?.map(Number) ?? []
  expect(accepted).toBeGreaterThan(500)
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(accepted)
})

test('the disk by its parts, and the log of an engine: followed, held, searched and saved', async ({
  page,
}) => {
  await page.goto('/system')
  await expect(page.getByRole('img', { name: /in the data folder: .*checkpoints/ })).toBeVisible()
  const logs = page.getByRole('region', { name: 'Logs of the engines' })
  await logs.getByRole('combobox', { name: 'Log' }).click()
  await page.getByRole('option', { name: /^inference-heddle-loom-tiny/ }).click()
  const lines = logs.getByRole('log')
  await expect(lines).toContainText('Engine 000')
  await expect(logs.getByRole('button', { name: 'Following' })).toBeVisible()
  await lines.hover()
  await page.mouse.wheel(0, -10_000)
  await expect(logs.getByRole('button', { name: 'Follow', exact: false })).not.toHaveText('Following')
  await logs.getByRole('textbox', { name: 'Lines with' }).fill('application startup complete')
  await expect(logs.getByRole('status')).toHaveText(/^1 of \d+ lines$/)
  await expect(lines).toContainText('Application startup complete')
  await logs.getByRole('button', { name: 'Follow', exact: false }).click()
  await expect(logs.getByRole('button', { name: 'Following' })).toBeVisible()
  const saving = page.waitForEvent('download')
  await logs.getByRole('button', { name: 'Download the whole log' }).click()
  expect((await saving).suggestedFilename()).toBe('inference-heddle-loom-tiny.log')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy all, for a report' }).click()
  const report = await page.evaluate(() => navigator.clipboard.readText())
  expect(report).toMatch(/^Heddle \d/)
  expect(report).toMatch(/trainer heddle\/loom-tiny, ready/)
})

test('a model, its steps and the system have no serious violation, also opened in dark', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' })
  await openModel(page, 'Curves')
  await expect(figure(page, 'Reward')).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Steps' }).click()
  const step = page.getByRole('grid', { name: 'Steps' }).getByRole('row').nth(1)
  await expect(step).toContainText('MB')
  await step.click()
  await expect(page.getByRole('heading', { name: 'Files' })).toBeVisible()
  expect(await seriousViolations(page)).toEqual([])
  await page.goto('/system')
  await expect(page.getByRole('region', { name: 'Versions' })).toBeVisible()
  await expect(page.getByRole('log')).toContainText(/\d\d:\d\d:\d\d/)
  expect(await seriousViolations(page)).toEqual([])
})

test('a run that is not there is nothing that failed', async ({ page, server }) => {
  const project = 'local/untracked'
  const model = { entity: 'local', project: 'untracked', name: 'plain', base_model: 'heddle/loom-tiny' }
  await post(server.url, '/v1/preview/models', model)
  await page.goto(`/${project}/training/plain?view=run`)
  await expect(page.getByRole('heading', { name: 'No run has logged anything here' })).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
  await page.goto(`/${project}/runs/nothing`)
  await expect(page.getByRole('heading', { name: 'There is no such run' })).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})
