import { queryOptions } from '@tanstack/react-query'
import type { MonitorsRes } from '../../src/evaluation/call-scoring/wire.ts'
import { askJson } from './client.ts'
import { projectPath } from './project.ts'
import { LIVE_MS } from './query-client.ts'
import type { OnWire } from './wire.ts'

export type MonitorState = OnWire<MonitorsRes>['monitors'][number]

/** Whether each monitor of a project runs, why not, and what it has scored; by the names of the monitors. */
export function monitorsQuery(project: string) {
  return queryOptions({
    queryKey: ['objects', project, 'monitor states'],
    refetchInterval: LIVE_MS,
    queryFn: async ({ signal }): Promise<MonitorState[]> =>
      (await askJson<OnWire<MonitorsRes>>(projectPath(project, 'monitors'), { signal })).monitors,
  })
}
