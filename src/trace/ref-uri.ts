import { invalidRequest } from '../errors.ts'

const EXTERNAL = 'weave:///'
const INTERNAL = 'weave-trace-internal:///'

/** A ref to a thing of a project: `weave:///entity/project/kind/name[:version][/edge/value]…`. */
export interface RefUri {
  /** `entity/project` */
  projectId: string
  kind: 'object' | 'op' | 'table' | 'call'
  /** Object or op name; the digest of a table; the id of a call. */
  name: string
  /** Digest, `latest`, `v<N>` or alias; only objects and ops have one. */
  version: string | undefined
  /** Path into the value. */
  edges: { kind: 'attr' | 'key' | 'index' | 'id'; value: string }[]
}

/**
 * The id under which a project appears inside internal refs. It is derived from the name, so that the digest of
 * anything that contains a ref never changes.
 */
export function internalProjectId(projectId: string): string {
  return Buffer.from(projectId, 'utf8').toString('base64')
}

/** Whether a string is a ref that clients exchange. */
export function isRef(text: string): boolean {
  return text.startsWith(EXTERNAL)
}

/**
 * `weave:///e/p/tail` → `weave-trace-internal:///{internal project id}/tail`, the form that digests are taken of.
 * @throws 400 for a ref without entity, project and tail.
 */
export function internalRef(ref: string): string {
  const [entity, project, ...tail] = ref.slice(EXTERNAL.length).split('/')
  if (!entity || !project || tail.length === 0) throw invalidRequest(`Invalid ref: ${ref}`)
  return `${INTERNAL}${internalProjectId(`${entity}/${project}`)}/${tail.join('/')}`
}

/** Whether a string is the internal form, which clients have no reason to send. */
export function isInternalRef(text: string): boolean {
  return text.startsWith(INTERNAL)
}

/** @throws 400 when the text is not a ref. */
export function parseRef(text: string): RefUri {
  const ref = refOf(text)
  if (ref === undefined) throw invalidRequest(`Invalid ref: ${text}`)
  return ref
}

/** The ref in a text; undefined for any other text. */
export function refOf(text: string): RefUri | undefined {
  const [entity, project, kind, named, ...path] = isRef(text) ? text.slice(EXTERNAL.length).split('/') : []
  if (!entity || !project || !named || !isKind(kind)) return undefined
  const separator = named.lastIndexOf(':')
  const versioned = kind === 'object' || kind === 'op'
  const edges = edgesOf(path)
  if ((versioned && separator < 1) || edges === undefined) return undefined
  return {
    projectId: `${entity}/${project}`,
    kind,
    name: decode(versioned ? named.slice(0, separator) : named),
    version: versioned ? named.slice(separator + 1) : undefined,
    edges,
  }
}

/** The version of an object or an op that a ref names, as requests for objects do; `latest` where it names none. */
export function versionNamed({ projectId, kind, name, version = 'latest' }: RefUri) {
  return { project_id: projectId, object_id: name, digest: version, kind }
}

/** The ref of a call. */
export function callRef(projectId: string, callId: string): string {
  return `${EXTERNAL}${projectId}/call/${callId}`
}

function isKind(kind: string | undefined): kind is RefUri['kind'] {
  return kind === 'object' || kind === 'op' || kind === 'table' || kind === 'call'
}

function edgesOf(path: readonly string[]): RefUri['edges'] | undefined {
  const edges: RefUri['edges'] = []
  for (let at = 0; at < path.length; at += 2) {
    const kind = path[at]
    const value = path[at + 1]
    if (value === undefined || (kind !== 'attr' && kind !== 'key' && kind !== 'index' && kind !== 'id'))
      return undefined
    edges.push({ kind, value: decode(value) })
  }
  return edges
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
