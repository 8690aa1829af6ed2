import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type UserConfig } from 'vite'

/** The Heddle that `npm run web` uses. */
const SERVER = process.env.HEDDLE_URL ?? 'http://127.0.0.1:6060'

/** The only GET addresses of the API that the pages use; all others are pages, or Vite's own. */
const API_GETS =
  /^\/(v1|v2|inference|health|version|metrics|server_info|tags|aliases|annotation_queues|project|storage|openapi\.json|docs)(\/|$|\?)/

export default defineConfig(({ command }) => {
  // Whatever the environment says: a start of a test or of a developer would otherwise build React for development.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return CONFIG
})

const CONFIG: UserConfig = {
  root: import.meta.dirname,
  plugins: [react(), tailwind()],
  build: {
    outDir: resolve(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2023',
    // Every size is measured compressed by what serves it, so the report's own compression is wasted time.
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Left alone, each module that some pages share is a file, a hundred in all, and a page waits for dozens of
        // requests.
        codeSplitting: {
          groups: [
            {
              name: 'components',
              test: /node_modules\/(@base-ui|@floating-ui)\/|web\/components\//,
              minShareCount: 4,
            },
            { name: 'shared', test: /web\/|src\//, minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '^/': {
        target: SERVER,
        bypass: ({ method, url }) => (method === 'GET' && !API_GETS.test(url ?? '') ? url : undefined),
      },
    },
  },
}
