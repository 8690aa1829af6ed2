import { join } from 'node:path'

/** A client program of the folder `clients` beside this file. */
export function clientProgram(name: string): string {
  return join(import.meta.dirname, 'clients', name)
}
