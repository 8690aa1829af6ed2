import { join, resolve } from 'node:path'

/** The folder of the repository. */
export const ROOT = resolve(import.meta.dirname, '..')

/** The runtime that the packages bring along. */
export const NODE = join(ROOT, 'node_modules/.bin/node')
