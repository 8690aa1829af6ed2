import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test as base, expect } from '@playwright/test'
import { Provider } from 'oidc-provider'
import { startServer, type WireServer } from '../wire/server.ts'
import { seriousViolations } from './heddle.ts'

/** A server with a sign-in provider, whose own pages ask for any name and password. */
const test = base.extend<{ baseURL: string }, { server: WireServer }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads what a fixture needs from its first parameter
    async ({}, use) => {
      const http = createServer()
      http.listen(0, '127.0.0.1')
      await once(http, 'listening')
      const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
      await using server = await startServer({
        HEDDLE_AUTH: 'keys',
        HEDDLE_CACHE: '/nonexistent/cache',
        HEDDLE_OIDC_ISSUER: issuer,
        HEDDLE_OIDC_CLIENT_ID: 'heddle',
        HEDDLE_OIDC_CLIENT_SECRET: 'secret',
        HEDDLE_OIDC_SCOPES: 'openid',
        HEDDLE_OIDC_SIGN_UP: 'on',
      })
      const redirect_uris = [`${server.url}/v1/accounts/oidc/callback`]
      const clients = [{ client_id: 'heddle', client_secret: 'secret', redirect_uris }]
      http.on('request', new Provider(issuer, { clients }).callback())
      await use(server)
      http.closeAllConnections()
      http.close()
    },
    { scope: 'worker' },
  ],
  baseURL: ({ server }, use) => use(server.url),
})

test('the provider signs in, and leads back to the page that was asked for', async ({ page }) => {
  await page.goto('/settings?tab=keys')
  await page.getByRole('link', { name: 'Single sign-on' }).click()
  await page.getByPlaceholder('Enter any login').fill('vera')
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('heading', { name: 'Your keys' })).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('link', { name: 'Single sign-on' })).toBeVisible()
})

test('a cancelled sign-in says so, and another can begin', async ({ page }) => {
  await page.goto('/settings')
  await page.getByRole('link', { name: 'Single sign-on' }).click()
  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page.getByRole('alert')).toContainText('cancelled at the provider')
  expect(await seriousViolations(page)).toEqual([])
  await page.getByRole('link', { name: 'Single sign-on' }).click()
  await expect(page.getByPlaceholder('Enter any login')).toBeVisible()
})
