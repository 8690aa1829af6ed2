/** What a client may mean by `model`. */
export type ModelName =
  | { kind: 'artifact'; entity: string; project: string; name: string; step: Step }
  | { kind: 'bare'; name: string; step: Step }

/** A step, or whatever is newest. */
export type Step = number | 'newest'

const ARTIFACT_PREFIX = 'wandb-artifact:///'

/**
 * Reads `wandb-artifact:///entity/project/name[:stepN]`, the same without its prefix, `name[:stepN]` and `name@N`;
 * undefined for anything else.
 */
export function parseModelName(text: string): ModelName | undefined {
  const path = text.startsWith(ARTIFACT_PREFIX) ? text.slice(ARTIFACT_PREFIX.length) : text
  const found = /^(?<path>[^:@]+)(?::step(?<colon>\d+)|:latest|@(?<at>\d+))?$/.exec(path)
  const digits = found?.groups?.['colon'] ?? found?.groups?.['at']
  const step = digits === undefined ? 'newest' : Number(digits)
  const parts = (found?.groups?.['path'] ?? '').split('/')
  if (parts.some((part) => part === '')) return undefined
  const [first = '', second, third] = parts
  if (parts.length === 1 && path === text) return { kind: 'bare', name: first, step }
  if (parts.length !== 3 || second === undefined || third === undefined) return undefined
  return { kind: 'artifact', entity: first, project: second, name: third, step }
}
