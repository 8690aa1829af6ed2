import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pythonOf } from '../../scripts/python-env.mjs'
import { environmentFolder } from '../../scripts/setup.mjs'

type Environment = Parameters<typeof environmentFolder>[0]

/** Whether an environment is there: what needs a newer Python than the machine has is not. */
export function isInstalled(name: Environment): boolean {
  return pythonOf(environmentFolder(name)) !== undefined
}

/** The interpreter of one of the environments that set-up makes. @throws Error that says how to make it. */
export function pythonIn(name: Environment): string {
  const python = pythonOf(environmentFolder(name))
  if (python === undefined || !existsSync(python)) throw new Error(`Run: npm run setup ${name}`)
  return python
}

/** A folder beside this file with the programs that play the clients. */
export function clientProgram(name: string): string {
  return join(import.meta.dirname, 'clients', name)
}
