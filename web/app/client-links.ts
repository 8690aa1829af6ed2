/** Addresses below a project that clients print or remember, as patterns, and the page that each means. */
const LINKS: Record<string, string> = {
  '': 'traces',
  weave: 'traces',
  'weave/traces': 'traces',
  'weave/calls': 'traces',
  'weave/evaluations': 'evaluations',
  'weave/compare-evaluations': 'compare?runs=$evaluationCallIds',
  'weave/datasets': 'datasets',
  'weave/threads': 'threads',
  'weave/threads/$thread': 'threads?thread=$thread',
  'weave/playground': 'playground',
  'weave/(?<kind>objects|ops|models|prompts|scorers|monitors|leaderboards)': 'library?kind=$kind',
  'weave/calls/$id': 'calls/$id',
  '(?:weave/)?(?:objects|ops)/$name(?:/versions)?': 'objects/$name/versions/latest',
  'weave/(?:objects|ops)/$name/versions/$version': 'objects/$name/versions/$version',
  'weave/leaderboards/$name': 'leaderboards/$name',
  'weave/agents/conversations/$thread': 'threads?thread=$thread',
  'runs/$run': 'training?run=$run',
}

const PATTERNS = Object.entries(LINKS).map(([path, page]) => ({
  page,
  path: new RegExp(`^${path.replaceAll(/\$(\w+)/g, '(?<$1>[^/]+)')}$`),
}))

/**
 * The address of the page that a printed link means; undefined for an address that means nothing. A name of the page
 * that the path does not have is that of a search parameter.
 */
export function pageOfLink(pathname: string, search = ''): string | undefined {
  const [, entity, project, rest = ''] = /^\/([^/]+)\/([^/]+)(?:\/(.*?))?\/?$/.exec(pathname) ?? []
  if (entity === undefined || project === undefined) return undefined
  const parameters = new URLSearchParams(search)
  for (const { path, page } of PATTERNS) {
    const match = path.exec(rest)
    if (match === null) continue
    const parametersAt = page.indexOf('?')
    const partOf = (name: string, at: number) => {
      const part = match.groups?.[name]
      if (part === undefined) return encodeURIComponent(parameters.get(name) ?? '')
      // In a path it goes on as it was written, already encoded.
      return parametersAt === -1 || at < parametersAt ? part : textParameter(decoded(part))
    }
    return `/${entity}/${project}/${page.replaceAll(/\$(\w+)/g, (_, name: string, at: number) => partOf(name, at))}`
  }
  return undefined
}

/** The router reads what is JSON as JSON: the text `123` would become a number. */
function textParameter(text: string): string {
  return encodeURIComponent(isJson(text) ? JSON.stringify(text) : text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A part that is encoded wrongly stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
