import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'
import { objectOf } from './json.ts'
import { readFile } from './media.ts'
import { projectId } from './project.ts'
import { parseRef, type WeaveRef } from './weave-ref.ts'
import type { Json } from './wire.ts'

/** The version of an op that a call names; undefined for a call that only has a name. */
export function opVersionOf(opName: string): WeaveRef | undefined {
  const ref = parseRef(opName)
  return ref?.kind === 'op' ? ref : undefined
}

/** The source of an op as its client sent it; null when none was sent. */
export function opCodeQuery(op: WeaveRef) {
  const project_id = projectId(op)
  return queryOptions({
    queryKey: ['objects', project_id, 'code', op.name, op.version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<string | null> => {
      const body = { project_id, object_id: op.name, digest: op.version }
      const { obj } = await askJson<{ obj: { val: Json } }>('/obj/read', { body, signal })
      const files = objectOf(objectOf(obj.val)['files'])
      const file = files['obj.py'] ?? Object.values(files)[0]
      return typeof file === 'string' ? await (await readFile(project_id, file, { signal })).text() : null
    },
  })
}
