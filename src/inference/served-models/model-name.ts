/** What a client's `model` names; `checkpoint` is a step, `latest`, `best`, an artifact version or a tag. */
export type ModelName =
  | { kind: 'artifact'; entity: string; project: string; name: string; checkpoint: string }
  | { kind: 'bare'; name: string; checkpoint: string }

const ARTIFACT_PREFIX = 'wandb-artifact:///'

/**
 * Reads `wandb-artifact:///entity/project/name[:checkpoint]`, the same without its prefix, `name[:checkpoint]` and
 * `name@N`; undefined for anything else.
 */
export function parseModelName(text: string): ModelName | undefined {
  const path = text.startsWith(ARTIFACT_PREFIX) ? text.slice(ARTIFACT_PREFIX.length) : text
  const found = /^(?<path>[^:@]+)(?::(?<alias>[A-Za-z0-9][A-Za-z0-9._-]*)|@(?<step>\d+))?$/.exec(path)
  const { alias, step } = found?.groups ?? {}
  const checkpoint = alias ?? step ?? 'latest'
  // A bare number after a colon is no step: steps are written `step3` there.
  if (alias !== undefined && /^\d+$/.test(alias)) return undefined
  const parts = (found?.groups?.['path'] ?? '').split('/')
  if (parts.some((part) => part === '')) return undefined
  const [first = '', second, third] = parts
  if (parts.length === 1 && path === text) return { kind: 'bare', name: first, checkpoint }
  if (parts.length !== 3 || second === undefined || third === undefined) return undefined
  return { kind: 'artifact', entity: first, project: second, name: third, checkpoint }
}
