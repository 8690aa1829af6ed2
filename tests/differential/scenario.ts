import { createHash } from 'node:crypto'

/**
 * A request that both servers get; `path` and `body` are made of what that server said before where ids are its own.
 */
export interface Request {
  title: string
  method: Method
  path: Path
  body?: unknown
  headers?: Record<string, string>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Path = string | ((said: Said) => string)

/** Replies that one server gave earlier in the scenario, by the request's title. */
export type Said = (title: string) => Record<string, unknown>

/** Stands for a part of a body that depends on earlier replies of the server that it is sent to. */
export type Later = (said: Said) => unknown

/** A part of a body: a field of an earlier reply, or what `made` makes of it. */
export function fieldOf(title: string, field: string, made = (value: unknown): unknown => value): Later {
  return (said) => made(said(title)[field])
}

/** A ref to a version that an earlier request published. */
export function refTo(project: string, objectId: string, title: string, path = ''): Later {
  return fieldOf(title, 'digest', (digest) => `weave:///${project}/object/${objectId}:${digest}${path}`)
}

/** Requests in one project, in their order. */
export interface Scenario {
  name: string
  /** Which of the reference's stores answers: `clickhouse` is the hosted service's, `sqlite` takes what that lacks. */
  store: 'clickhouse' | 'sqlite'
  requests: Request[]
}

/** Declares a scenario; `make` gets its project and the means to ask in it. */
export function scenario(
  name: string,
  make: (project: string, ask: Ask) => Request[],
  store: Scenario['store'] = 'clickhouse',
): Scenario {
  const project = `differential/${name.replaceAll(' ', '-')}`
  const ask: Ask = (title, path, fields, method = 'POST') => ({
    title,
    method,
    path,
    body: typeof path === 'string' && path.startsWith('/v2/') ? fields : { project_id: project, ...fields },
  })
  return { name, store, requests: make(project, ask) }
}

/** A request whose JSON body, or path, names the scenario's project. */
export type Ask = (title: string, path: Path, fields?: object, method?: 'POST' | 'PUT') => Request

/** A UUID that belongs to a name, and is never of the version that servers make. */
export function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
