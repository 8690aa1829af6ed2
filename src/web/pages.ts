import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** The web UI: the files of the build, and one page for all of its addresses. */
export interface WebPages {
  /** A file of the build by its path, as `/assets/main-1a2b.js`; undefined where there is none. */
  file(request: Request): Promise<Response | undefined>
  /** The page, for browsers that open any address outside the API; undefined for programs and before the build. */
  page(request: Request): Promise<Response | undefined>
}

/** The UI may load nothing from, and send nothing to, other hosts. Editors style their parts inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Their names carry a hash of their content, so they never change. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** Compressed forms made by the build, best first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const

/** Below these is only the API, so a wrong address there gets the API's 404. */
const API_ONLY = /^\/(v1|v2|traces|docs|assets)(\/|$)/

/** Serves the build in `folder`; a build made while the server runs is found by the next request. */
export function createWebPages(folder: string): WebPages {
  async function read(request: Request, path: string): Promise<Response | undefined> {
    const type = TYPES[extname(path)]
    if (type === undefined) return undefined
    const headers: Record<string, string> = {
      'content-type': type,
      'cache-control': path.startsWith('assets/') ? FOR_EVER : 'no-cache',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    }
    const accepted = request.headers.get('accept-encoding') ?? ''
    for (const { name, suffix } of ENCODINGS.filter(({ name }) => accepted.includes(name))) {
      const bytes = await bytesOf(join(folder, `${path}${suffix}`))
      if (bytes !== undefined)
        return new Response(bytes, { headers: { ...headers, 'content-encoding': name } })
    }
    const bytes = await bytesOf(join(folder, path))
    return bytes && new Response(bytes, { headers })
  }

  return {
    async file(request) {
      const path = /^\/((?:assets\/)?[\w-][\w.-]*)$/.exec(new URL(request.url).pathname)?.[1]
      return path === undefined ? undefined : await read(request, path)
    },

    async page(request) {
      const isPerson = request.headers.get('accept')?.includes('text/html') ?? false
      if (!isPerson || API_ONLY.test(new URL(request.url).pathname)) return undefined
      return await read(request, 'index.html')
    },
  }
}

async function bytesOf(file: string): Promise<Buffer<ArrayBuffer> | undefined> {
  try {
    return await readFile(file)
  } catch {
    return undefined
  }
}
