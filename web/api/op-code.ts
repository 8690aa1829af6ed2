import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'
import { objectOf } from './json.ts'
import { readFile } from './media.ts'
import type { Json } from './wire.ts'

/** An op as a call names it: a version of an object of the project. */
export interface OpVersion {
  name: string
  digest: string
}

/** Undefined for a call that only has a name. */
export function opVersionOf(opName: string): OpVersion | undefined {
  const [, name, digest] = /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^:]+):(.+)$/.exec(opName) ?? []
  return name === undefined || digest === undefined ? undefined : { name: decodeURIComponent(name), digest }
}

/** The source of an op as its client sent it; null when none was sent. */
export function opCodeQuery(projectId: string, { name, digest }: OpVersion) {
  return queryOptions({
    queryKey: ['objects', projectId, 'code', name, digest],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<string | null> => {
      const body = { project_id: projectId, object_id: name, digest }
      const { obj } = await askJson<{ obj: { val: Json } }>('/obj/read', { body, signal })
      const files = objectOf(objectOf(obj.val)['files'])
      const file = files['obj.py'] ?? Object.values(files)[0]
      return typeof file === 'string' ? await (await readFile(projectId, file, { signal })).text() : null
    },
  })
}
