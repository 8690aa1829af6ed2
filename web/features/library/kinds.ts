/** What a library holds, by the words that the addresses of clients have too; `objects` are all but ops. */
export const KINDS = [
  'objects',
  'ops',
  'models',
  'prompts',
  'scorers',
  'monitors',
  'leaderboards',
  'datasets',
] as const
export type Kind = (typeof KINDS)[number]

interface KindFacts {
  title: string
  /** What the server is asked for. */
  filter: { is_op: boolean; base_object_classes?: readonly string[] }
}

const ofClass = (base: string) => ({ is_op: false, base_object_classes: [base] })

export const KIND_FACTS: Record<Kind, KindFacts> = {
  objects: { title: 'All objects', filter: { is_op: false } },
  ops: { title: 'Ops', filter: { is_op: true } },
  models: { title: 'Models', filter: ofClass('Model') },
  prompts: { title: 'Prompts', filter: ofClass('Prompt') },
  scorers: { title: 'Scorers', filter: ofClass('Scorer') },
  monitors: { title: 'Monitors', filter: ofClass('Monitor') },
  leaderboards: { title: 'Leaderboards', filter: ofClass('Leaderboard') },
  datasets: { title: 'Datasets', filter: ofClass('Dataset') },
}
