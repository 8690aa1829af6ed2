import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'

/** The parts of the page that come from its library, which are the same for as long as the server runs. */
const ASSETS = {
  'swagger-ui.css': { type: 'text/css', file: import.meta.resolve('swagger-ui-dist/swagger-ui.css') },
  'swagger-ui-bundle.js': {
    type: 'text/javascript',
    file: import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  },
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heddle API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`

/** No validator: it would send the description to a service outside. */
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, docExpansion: 'none',
  persistAuthorization: true, tryItOutEnabled: true, validatorUrl: null })
`

/** Nothing of the page may come from, or go to, or be framed by anywhere else; the library styles its parts inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

const headersOf = (type: string): Record<string, string> => ({
  'content-type': `${type}; charset=utf-8`,
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
})

/** `/docs`: a page to read `/openapi.json` and to try it, which needs nothing but this server. */
export function addApiDocs(app: Hono): void {
  app.get('/docs', () => new Response(PAGE, { headers: headersOf('text/html') }))
  app.get('/docs/start.js', () => new Response(START, { headers: headersOf('text/javascript') }))
  for (const [name, { type, file }] of Object.entries(ASSETS)) {
    app.get(`/docs/${name}`, async () => {
      const bytes = await readFile(fileURLToPath(file))
      return new Response(bytes, { headers: { ...headersOf(type), 'cache-control': 'max-age=3600' } })
    })
  }
}
