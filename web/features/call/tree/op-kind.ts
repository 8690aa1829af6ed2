import {
  Bot,
  Braces,
  BrainCircuit,
  GraduationCap,
  type LucideIcon,
  Search,
  ShieldCheck,
  SquareCheck,
  Wrench,
} from 'lucide-react'
import type { OpKind } from '../../../api/op-kinds.ts'
import type { TraceTree } from './trace-tree.ts'

/** An icon and a word beside each colour, which `--kind-…` has. */
export const KINDS: Record<OpKind, { word: string; icon: LucideIcon }> = {
  llm: { word: 'model', icon: BrainCircuit },
  tool: { word: 'tool', icon: Wrench },
  retriever: { word: 'retriever', icon: Search },
  agent: { word: 'agent', icon: Bot },
  eval: { word: 'evaluation', icon: SquareCheck },
  guardrail: { word: 'guardrail', icon: ShieldCheck },
  train: { word: 'training', icon: GraduationCap },
  other: { word: 'function', icon: Braces },
}

/** Words of a name that tell a kind; the first kind that has one of them is it. */
const WORDS: readonly [OpKind, ReadonlySet<string>][] = [
  ['eval', new Set(['evaluation', 'evaluate', 'eval', 'score', 'scorer', 'judge'])],
  ['guardrail', new Set(['guardrail', 'guardrails'])],
  ['llm', new Set(['llm', 'chat', 'completion', 'completions', 'responses', 'generate', 'messages'])],
  ['agent', new Set(['agent', 'planner', 'orchestrator', 'crew'])],
  [
    'retriever',
    new Set([
      'retriever',
      'retrieve',
      'retrieval',
      'search',
      'rerank',
      'embed',
      'embedding',
      'embeddings',
      'lookup',
    ]),
  ],
  ['tool', new Set(['tool', 'tools', 'function'])],
  ['train', new Set(['train', 'training', 'trajectory', 'rollout', 'finetune'])],
]

/**
 * What a call does, as it declares it itself. Otherwise a guess: a call with tokens that no call below accounts for is
 * a model's, others are classified by name.
 */
export function kindOf(tree: TraceTree, place: number): OpKind {
  const call = tree.calls[place]
  if (call === undefined) return 'other'
  const declared = tree.kinds.get(call.id)
  if (declared !== undefined) return declared
  if (call.tokens.size > 0 && (tree.ends[place] ?? 0) === place + 1) return 'llm'
  const kind = byName.get(call.name) ?? kindOfName(call.name)
  byName.set(call.name, kind)
  return kind
}

function kindOfName(name: string): OpKind {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return WORDS.find(([, known]) => words.some((word) => known.has(word)))?.[0] ?? 'other'
}

/** A trace has thousands of calls but few names. */
const byName = new Map<string, OpKind>()
