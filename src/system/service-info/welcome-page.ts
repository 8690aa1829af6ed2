import type { AuthMode } from '../../accounts/sessions/me.ts'

/**
 * What stands for a key. Local mode accepts any; W&B clients refuse one with fewer than 40 characters after its first
 * dash.
 */
const EXAMPLE_KEYS: Record<AuthMode, string> = { local: `local-${'0'.repeat(40)}`, keys: 'YOUR_KEY' }

/** What is more to see. A browser sends no key, so pages that need one are no links. */
const MORE: Record<AuthMode, string> = {
  local: `<li><a href="/v1/system-check">/v1/system-check</a>: whether every part works</li>
  <li><a href="/health">/health</a>, <a href="/metrics">/metrics</a>, <a href="/version">/version</a></li>`,
  keys: `<li>/v1/system-check: whether every part works, and /metrics; with the key of an operator</li>
  <li><a href="/health">/health</a>, <a href="/version">/version</a></li>`,
}

/** The page for people at `/`: what this server is, and how to connect clients. `url` is how the page was reached. */
export function welcomePage({
  url,
  version,
  auth,
}: {
  url: string
  version: string
  auth: AuthMode
}): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Heddle</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 44rem; margin: 4rem auto; padding: 0 1.5rem }
  pre { padding: 1rem; overflow-x: auto; background: color-mix(in srgb, currentColor 8%, transparent); border-radius: .5rem }
</style>
<h1>Heddle ${escaped(version)}</h1>
<p>Tracing and evaluation, training and inference, in one server. Point your clients here:</p>
<pre>export WANDB_BASE_URL=${escaped(url)}
export WANDB_API_KEY=${EXAMPLE_KEYS[auth]}
export OPENAI_BASE_URL=${escaped(url)}/v1</pre>
<ul>
  <li><a href="/docs">/docs</a>: the whole API, also as <a href="/openapi.json">/openapi.json</a></li>
  ${MORE[auth]}
</ul>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
