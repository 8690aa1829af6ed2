import { createHmac } from 'node:crypto'
import { redactJson, redactText } from './redact-json.ts'
import { HASH_DIGITS, type Redacting } from './redact-text.ts'
import type { CompiledRules } from './rules.ts'
import type { DocumentName, Rule } from './wire.ts'

/** What may be stored of a project once it is redacted: JSON, or a text that may be JSON too. */
export interface Redactable {
  form: 'json' | 'text'
  text: string
  /** What paths of rules begin with here; none lead into other texts. */
  document?: DocumentName
}

/** What hashes are made with. Equal values of one project have equal hashes, and those of two projects have not. */
export interface HashKey {
  secret: string
  projectId: string
}

/** Work for a thread. */
export interface RedactionJob {
  rules: readonly Rule[]
  key: HashKey
  values: readonly Redactable[]
}

/** The values as they may be stored, and how often each rule has found something, by its index. */
export interface Redacted {
  texts: string[]
  hits: number[]
}

/** @throws 400 for JSON that is nested too deep. */
export function redactAll(rules: CompiledRules, key: HashKey, values: readonly Redactable[]): Redacted {
  const redacting: Redacting = {
    rules,
    hits: rules.actions.map(() => 0),
    hash: (text) =>
      createHmac('sha256', key.secret)
        .update(`${key.projectId}\0${text}`)
        .digest('hex')
        .slice(0, HASH_DIGITS),
  }
  const texts = values.map(({ form, text, document }) =>
    form === 'json' ? redactJson(text, redacting, document) : redactText(text, redacting, document),
  )
  return { texts, hits: redacting.hits }
}
