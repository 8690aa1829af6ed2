import type { Hono } from 'hono'
import type { WebPages } from '../web/pages.ts'

/** Serves the UI's files, and its page at `/` for browsers; other requests get the API's answer. */
export function addWeb(app: Hono, web: WebPages): void {
  app.get('/', async (c, next) => (await web.page(c.req.raw)) ?? (await next()))
  for (const path of ['/assets/:name', '/theme.js', '/favicon.svg'])
    app.get(path, async (c, next) => (await web.file(c.req.raw)) ?? (await next()))
}
