import { queryOptions } from '@tanstack/react-query'
import type { Action, Builtin, DocumentName, Rule } from '../../src/redaction/wire.ts'
import { askJson } from './client.ts'
import { type ProjectName, projectId, projectPath } from './project.ts'
import type { Json } from './wire.ts'

export type { Action, Builtin, DocumentName, Rule }

interface RuleHits {
  rule: string
  hits: number
}

/** The rules of a project, and how often each found something. */
export interface Redaction {
  rules: Rule[]
  hits: RuleHits[]
  updated_at: string | null
  version: string
}

/** A sample after the rules: either a text or JSON, as it was given. */
export interface RedactedSample {
  text: string | null
  json: Json
  hits: RuleHits[]
}

export function redactionQuery(name: ProjectName) {
  return queryOptions({
    queryKey: ['redaction', projectId(name)],
    queryFn: ({ signal }) => askJson<Redaction>(projectPath(name, 'redaction'), { signal }),
  })
}

/** @param version of the rules that these replace */
export function setRedaction(name: ProjectName, rules: readonly Rule[], version: string): Promise<Redaction> {
  return askJson(projectPath(name, `redaction?if_version=${version}`), { method: 'PUT', body: { rules } })
}

/** Applies rules to a sample; nothing is stored. */
export function testRedaction(
  name: ProjectName,
  body: { rules: readonly Rule[]; document: DocumentName } & ({ text: string } | { json: Json }),
): Promise<RedactedSample> {
  return askJson(projectPath(name, 'redaction/test'), { body, isRepeatable: true })
}
