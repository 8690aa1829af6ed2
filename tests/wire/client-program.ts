import { join } from 'node:path'

/** A program of the folder `clients` beside this file; they play the clients. */
export function clientProgram(name: string): string {
  return join(import.meta.dirname, 'clients', name)
}
