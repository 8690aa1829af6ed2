import { z } from 'zod'
import { AnyJson } from '../wire/json-text-wire.ts'
import { type IfVersion, SettingsVersion } from '../wire/settings-version-wire.ts'

/** Each rule with a key, a path or a pattern is tried at every value; a policy of a company has some ten. */
const RULES_MAX = 50

/** Keys of one rule; the known names of secrets are some tens. */
const KEYS_MAX = 100

/** Of a key, a path and a pattern: longer ones are no longer read by people. */
const CHARS_MAX = 512

/** Characters of a sample; a payload of this size is redacted as any other. */
const SAMPLE_CHARS_MAX = 1024 * 1024

/** What happens to what a rule finds: it is left out, replaced by a mark, or replaced by its keyed hash. */
const Action = z.enum(['drop', 'mask', 'hash'])
export type Action = z.output<typeof Action>

/** Patterns that the server knows. */
const Builtin = z.enum(['payment_card', 'email', 'secret'])
export type Builtin = z.output<typeof Builtin>

const named = {
  name: z.string().regex(/^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  action: Action,
}

/** What redacts values: those of members with a key, those at a path, or what matches within texts. */
export const Rule = z
  .discriminatedUnion('match', [
    z.strictObject({
      ...named,
      match: z.literal('key'),
      keys: z.array(z.string().min(1).max(CHARS_MAX)).min(1).max(KEYS_MAX),
    }),
    z.strictObject({ ...named, match: z.literal('path'), path: z.string().max(CHARS_MAX) }),
    z.strictObject({ ...named, match: z.literal('builtin'), builtin: Builtin }),
    z.strictObject({ ...named, match: z.literal('pattern'), pattern: z.string().min(1).max(CHARS_MAX) }),
  ])
  .meta({ id: 'RedactionRule' })
export type Rule = z.output<typeof Rule>

export const Rules = z.array(Rule).max(RULES_MAX)

/** The documents that are redacted, by the names with which paths begin. */
export const DocumentName = z.enum([
  'inputs',
  'output',
  'attributes',
  'summary',
  'payload',
  'val',
  'row',
  'file',
])
export type DocumentName = z.output<typeof DocumentName>

export const ProjectPath = z.object({ entity: z.string(), project: z.string() })
export type ProjectPath = z.output<typeof ProjectPath>

export const RedactionPutReq = z.strictObject({ rules: Rules })
export type RedactionPutReq = z.output<typeof RedactionPutReq> & IfVersion

/** How often a rule has found something; of the last seconds before a crash, hits may be missing. */
const RuleHits = z.object({ rule: z.string(), hits: z.int() })

export const RedactionRes = z
  .object({
    rules: Rules,
    /** In the order of the rules. */
    hits: z.array(RuleHits),
    /** Null where the project never had rules. */
    updated_at: z.string().nullable(),
    version: SettingsVersion,
  })
  .meta({ id: 'RedactionRes' })
export type RedactionRes = z.input<typeof RedactionRes>

export const RedactionTestReq = z.strictObject({
  /** The project's own rules where absent. */
  rules: Rules.nullish(),
  /** A text, such as an exception. Either this or `json` is given. */
  text: z.string().max(SAMPLE_CHARS_MAX).nullish(),
  json: AnyJson.nullish(),
  /** What the JSON is, for rules with a path. */
  document: DocumentName.default('inputs'),
})
export type RedactionTestReq = z.output<typeof RedactionTestReq>

export const RedactionTestRes = z
  .object({
    text: z.string().nullable(),
    json: AnyJson.nullable(),
    hits: z.array(RuleHits),
  })
  .meta({ id: 'RedactionTestRes' })
export type RedactionTestRes = z.input<typeof RedactionTestRes>
