import { type Operand, type Operation, streamCalls } from './calls.ts'

/** What a call does. */
export const OP_KINDS = ['llm', 'tool', 'retriever', 'agent', 'eval', 'guardrail', 'train', 'other'] as const
export type OpKind = (typeof OP_KINDS)[number]

/**
 * The words for kinds in clients: Python weave's `kind` of an op, and the span kinds of OpenTelemetry conventions
 * (weave, OpenLLMetry, OpenInference).
 */
const DECLARED: Record<OpKind, readonly string[]> = {
  llm: ['llm'],
  tool: ['tool'],
  retriever: ['search', 'retriever', 'reranker', 'embedding'],
  agent: ['agent'],
  eval: ['scorer', 'evaluator'],
  guardrail: ['guardrail'],
  train: [],
  other: ['chain', 'task', 'workflow', 'prompt'],
}

/** The kinds that clients declare. */
export const DECLARED_KINDS = OP_KINDS.filter((kind) => DECLARED[kind].length > 0)

/** Wire: where a declared kind stands; the second is of calls that OpenTelemetry spans became. */
export const KIND_PATHS = ['attributes.weave.kind', 'attributes.kind']

/** The kind by its own name or by a word that clients declare it with. */
export function kindNamed(word: string): OpKind | undefined {
  const lower = word.toLowerCase()
  return OP_KINDS.find((kind) => kind === lower || DECLARED[kind].includes(lower))
}

/** The words that declare the same kind as this one; the word itself where it declares none that is known. */
export function wordsOfKind(word: string): readonly string[] {
  const kind = kindNamed(word)
  return kind === undefined || DECLARED[kind].length === 0 ? [word] : DECLARED[kind]
}

/** A query for the calls that declare any of these words as their kind, in lower or upper case. */
export function declaresKind(words: readonly string[]): Operation {
  const literals: Operand[] = words
    .flatMap((word) => [word, word.toUpperCase()])
    .map((word) => ({ $literal: word }))
  return { $or: KIND_PATHS.map((path): Operation => ({ $in: [{ $getField: path }, literals] })) }
}

/** The kinds that calls of a trace declare, by their ids. Attributes may be large, so calls are requested by kind. */
export async function readKinds(
  project: string,
  traceId: string,
  { signal }: { signal: AbortSignal },
): Promise<ReadonlyMap<string, OpKind>> {
  const kinds = new Map<string, OpKind>()
  await Promise.all(
    DECLARED_KINDS.map(async (kind) => {
      const query = { $expr: declaresKind(DECLARED[kind]) }
      const request = { filter: { trace_ids: [traceId] }, query, columns: ['id'] }
      for await (const { id } of streamCalls(project, request, { signal })) kinds.set(id, kind)
    }),
  )
  return kinds
}
