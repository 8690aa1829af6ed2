import type { Page } from '@playwright/test'
import type { WireServer } from '../wire/server.ts'
import { expect, seriousViolations, test } from './heddle.ts'
import { runWeaveOnce } from './weave-client.ts'

const PROJECT = 'local/agent-shop'

/**
 * Calls of an agent by the real client, which tests only read: its ops declare their kinds, and one fails inside a
 * library.
 */
async function shop(server: WireServer): Promise<{ sold: string; failed: string }> {
  const ids = await runWeaveOnce('weave_shop.py', server, PROJECT)
  return { sold: String(ids['sold']), failed: String(ids['failed']) }
}

const tree = (page: Page) => page.getByRole('treegrid', { name: 'Calls of the trace' })

test('the stack of a failed call: its frames with their code, those of libraries folded', async ({
  page,
  server,
}) => {
  const { failed } = await shop(server)
  await page.goto(`/${PROJECT}/calls/${failed}`)
  const exception = page.getByRole('region', { name: 'Exception' })
  await expect(exception).toContainText('JSONDecodeError: Expecting property name')
  const stack = exception.getByRole('list', { name: 'Stack' })
  const own = stack.getByRole('button', { name: /weave_shop\.py:\d+ in search_catalogue/ })
  await expect(own).toHaveAttribute('aria-expanded', 'true')
  await expect(stack).toContainText('return json.loads(page)')
  await expect(stack).toContainText(/\d+ in libraries/)
  await expect(stack.getByRole('button', { name: /decoder\.py:\d+ in/ }).last()).toHaveAttribute(
    'aria-expanded',
    'true',
  )
  await expect(stack.getByRole('listitem').last()).toContainText('self.scan_once(s, idx)')
  const outer = stack.getByRole('button', { name: /weave_shop\.py:\d+ in sell/ })
  await expect(outer).toHaveAttribute('aria-expanded', 'false')
  await outer.click()
  await expect(stack).toContainText('return search_catalogue(page)')

  const shown = await stack.getByRole('listitem').count()
  await exception.getByRole('button', { name: 'Show libraries' }).click()
  await expect(stack).not.toContainText('in libraries')
  expect(await stack.getByRole('listitem').count()).toBeGreaterThan(shown)
  expect(await seriousViolations(page)).toEqual([])
})

test('a declared kind wins over what the name sounds like, in the tree and in filters', async ({
  page,
  server,
}) => {
  const { sold } = await shop(server)
  await page.goto(`/${PROJECT}/calls/${sold}`)
  await expect(tree(page).getByRole('row', { name: /^tool search_catalogue/ })).toBeVisible()
  await expect(tree(page).getByRole('row', { name: /^agent sell/ })).toBeVisible()
  await expect(tree(page).getByRole('row', { name: /^retriever find_offers/ })).toBeVisible()
  await expect(tree(page).getByRole('row', { name: /^guardrail is_polite/ })).toBeVisible()
  await page.getByRole('textbox', { name: 'Find calls' }).fill('kind:tool')
  await expect(page.getByRole('status').filter({ hasText: '2' })).toBeVisible()
  await expect(tree(page).getByRole('row', { name: /find_offers/ })).toHaveCount(0)

  await page.goto(`/${PROJECT}/traces?calls=all`)
  const calls = page.getByRole('grid', { name: 'Calls' })
  await page.getByRole('combobox', { name: 'Search calls' }).fill('kind:tool')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'kind is tool', exact: true })).toBeVisible()
  await expect(calls.getByRole('row', { name: /check_stock|search_catalogue/ })).toHaveCount(4)
  await expect(calls.getByRole('row')).toHaveCount(5)
  await page.getByRole('button', { name: 'Drop kind is tool' }).click()
  await page.getByRole('combobox', { name: 'Search calls' }).fill('-kind:*')
  await page.keyboard.press('Enter')
  await expect(calls.getByRole('row', { name: /lookup/ })).toHaveCount(1)
  await expect(calls.getByRole('row')).toHaveCount(2)
})
