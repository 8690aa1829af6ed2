/** Addresses below a project that clients print or remember, and the page that each means. */
const LINKS: Record<string, string> = {
  '': 'traces',
  weave: 'traces',
  'weave/traces': 'traces',
  'weave/calls': 'traces',
  'weave/evaluations': 'evaluations',
  'weave/datasets': 'datasets',
  'r/call/$id': 'calls/$id',
  'weave/calls/$id': 'calls/$id',
  'weave/ops/$name/versions/$version': 'objects/$name/versions/$version',
  'weave/objects/$name/versions/$version': 'objects/$name/versions/$version',
  'weave/leaderboards/$name': 'evaluations?leaderboard=$name',
  'weave/agents/conversations/$thread': 'threads?thread=$thread',
  'runs/$run': 'training?run=$run',
}

const PATTERNS = Object.entries(LINKS).map(([path, page]) => ({
  page,
  path: new RegExp(`^${path.replaceAll(/\$(\w+)/g, '(?<$1>[^/]+)')}$`),
}))

/** The address of the page that a printed link means; undefined for an address that means nothing. */
export function pageOfLink(pathname: string): string | undefined {
  const [, entity, project, rest = ''] = /^\/([^/]+)\/([^/]+)(?:\/(.*?))?\/?$/.exec(pathname) ?? []
  if (entity === undefined || project === undefined) return undefined
  for (const { path, page } of PATTERNS) {
    const match = path.exec(rest)
    // The parts go on as they were written, already encoded.
    if (match !== null)
      return `/${entity}/${project}/${page.replaceAll(/\$(\w+)/g, (_, name: string) => match.groups?.[name] ?? '')}`
  }
  return undefined
}
