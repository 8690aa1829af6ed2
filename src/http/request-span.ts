import type { Attributes, SpanStart } from '../telemetry.ts'
import type { Access } from './access.ts'
import type { Caller } from './caller.ts'
import type { Route } from './route.ts'

/** Longer names are no names; the access of a request was checked, not whether its project exists. */
const NAME_CHARS_MAX = 260

/** The span of requests to a route; one of the paths that mean the same operation stands for all of them. */
export function spanStartOf({ method, path, operationId }: Route): SpanStart {
  const route = typeof path === 'string' ? path : (path[0] ?? '')
  return {
    name: `${method} ${route}`,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route, 'heddle.operation': operationId },
  }
}

/** The project that a request names, the first one where there are several; none where only its handler finds it. */
export function subjectAttributes<Input>(access: Access<Input>, input: Input, caller: Caller): Attributes {
  if (typeof access !== 'object') return {}
  for (const subject of access.about(input, caller)) {
    if ('kind' in subject) continue
    const { entity, project } = subject
    return {
      'heddle.entity': entity.slice(0, NAME_CHARS_MAX),
      'heddle.project': project?.slice(0, NAME_CHARS_MAX),
    }
  }
  return {}
}
