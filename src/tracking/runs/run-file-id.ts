import { globalId, plainId } from '../../accounts/graphql/global-id.ts'

/** Which file of which run. */
export interface RunFileName {
  run_id: string
  name: string
}

export function runFileId({ run_id, name }: RunFileName): string {
  return globalId('RunFile', `${run_id}:${name}`)
}

/** The file that has an id. @throws 404 for an id of something else. */
export function plainFile(id: string): RunFileName {
  const [run_id = '', ...name] = plainId('RunFile', id).split(':')
  return { run_id, name: name.join(':') }
}
