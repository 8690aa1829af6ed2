import { invalidRequest } from '../../errors.ts'
import { RUN_PATHS, runPath } from './run-paths.ts'

/** The order of a list of runs. */
export interface RunsOrder {
  direction: 'asc' | 'desc'
  /** A path of `run-paths.ts`; undefined for when the runs were made. */
  orderBy: string | undefined
}

/** Wire: the name of a field after `+` or `-`; the sign may be missing. @throws 400 for another one */
export function runsOrder(order: string | null | undefined): RunsOrder {
  const [, sign, name = ''] = /^([+-]?)(.*)$/s.exec(order ?? '') ?? []
  const field = name === '' ? 'created_at' : name
  const path = runPath(field)?.path
  if (path === undefined || path === 'tags')
    throw invalidRequest(`Runs can be ordered by ${RUN_PATHS} but for tags, not by ${field}`, 'order')
  return { direction: sign === '-' ? 'desc' : 'asc', orderBy: path === 'created_at' ? undefined : path }
}
