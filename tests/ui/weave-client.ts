import { pythonIn } from '../../scripts/python-environments.ts'
import { clientProgram } from '../wire/client-program.ts'
import { KEY, runClient, type WireServer } from '../wire/server.ts'

type Said = Record<string, unknown>

/** Runs a program with the real client of weave in a project, and returns what it prints. */
export function runWeave(program: string, server: WireServer, project: string): Promise<Said> {
  return runClient([pythonIn('clients'), clientProgram(program)], {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: KEY,
    WEAVE_SERVER_CACHE_DIR: `${server.folder}/weave-cache-${project.replace('/', '-')}`,
    PROJECT: project,
  })
}

/** What programs have printed, by server, project and program. */
const said = new Map<string, Promise<Said>>()

/** As {@link runWeave}, but once on a server, for tests that only read what the program has written. */
export function runWeaveOnce(program: string, server: WireServer, project: string): Promise<Said> {
  const key = `${server.url}/${project}/${program}`
  let running = said.get(key)
  if (running === undefined) {
    running = runWeave(program, server, project)
    said.set(key, running)
    // The next test tries again.
    running.catch(() => said.delete(key))
  }
  return running
}
