#!/usr/bin/env node
// @ts-check
/** The command `heddle`: `run.mjs heddle`, under the name that `npx` and a path know it by. */
process.argv.splice(2, 0, 'heddle')
await import('./run.mjs')
