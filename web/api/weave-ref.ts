/** What a `weave:///` ref names. */
export interface WeaveRef {
  entity: string
  project: string
  kind: 'object' | 'op' | 'call' | 'table'
  /** The name of an object or op, the id of a call, the digest of a table. */
  name: string
  /** The digest of an object or op, or what stands for it; empty for a call and a table. */
  version: string
  /** The digest of a row in the table, or in the dataset that the object is; empty for none. */
  row: string
}

/** Longer texts are no refs that any client wrote. */
const REF_CHARS = 1024

const REF = /^weave:\/\/\/([^/\n]+)\/([^/\n]+)\/(object|op|call|table)\/([^/\n]+)((?:\/[^/\n]*)*)$/

/** The path to a row, from a dataset and from a table. */
const ROW = /^(?:\/attr\/rows)?\/id\/([^/]+)/

/** Undefined for a text that is no ref. Source: `weave/trace/refs.py` of the client. */
export function parseRef(text: unknown): WeaveRef | undefined {
  if (typeof text !== 'string' || text.length > REF_CHARS) return undefined
  const [, entity, project, kind, part = '', extra = ''] = REF.exec(text) ?? []
  if (entity === undefined || project === undefined || !isKind(kind)) return undefined
  const colon = part.lastIndexOf(':')
  const hasVersion = colon > 0 && (kind === 'object' || kind === 'op')
  const version = hasVersion ? part.slice(colon + 1) : ''
  return {
    entity: decoded(entity),
    project: decoded(project),
    kind,
    name: decoded(hasVersion ? part.slice(0, colon) : part),
    // A ref to any version means the newest, as one without a version does.
    version: kind === 'object' || kind === 'op' ? version.replace(/^\*?$/, 'latest') : '',
    row: decoded(ROW.exec(extra)?.[1] ?? ''),
  }
}

function isKind(word: string | undefined): word is WeaveRef['kind'] {
  return word === 'object' || word === 'op' || word === 'call' || word === 'table'
}

/** A part with a percent sign that encodes nothing is as it was written. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Characters of a digest that are enough to tell versions apart. */
const DIGEST_CHARS = 6

/** What a person reads of a ref: `capitals:Xy12Ab`, or the kind and the beginning of what has no name. */
export function refLabel({ kind, name, version, row }: WeaveRef): string {
  if (row !== '') return `${kind === 'table' ? 'table' : name} row ${row.slice(0, DIGEST_CHARS)}`
  if (kind === 'call') return `call …${name.slice(-DIGEST_CHARS)}`
  if (kind === 'table') return `table ${name.slice(0, DIGEST_CHARS)}`
  return `${name}:${version.slice(0, DIGEST_CHARS)}`
}

/** The name in a ref to an object or an op; any other text as it is. */
export function nameOfRef(ref: unknown): string {
  const found = parseRef(ref)
  if (found !== undefined && (found.kind === 'object' || found.kind === 'op')) return found.name
  return typeof ref === 'string' ? ref : ''
}
