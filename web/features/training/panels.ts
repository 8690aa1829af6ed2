import { REWARD } from '../../../src/training/checkpoints/best-step-wire.ts'
import { ON_POLICY_MAX } from '../../../src/training/jobs/on-policy-wire.ts'
import type { Line } from '../../components/chart/line.ts'
import { formatShare } from '../../components/format.ts'
import type { Step } from './steps.ts'

type Format = (value: number | null | undefined) => string

/** One chart over steps. */
export interface Panel {
  id: string
  title: string
  section: 'progress' | 'health' | 'other'
  lines: Line[]
  threshold?: number
  note?: { text: string; tone: 'quiet' | 'warn' }
  format?: Format
}

interface Known {
  title: string
  section: 'progress' | 'health'
  /** Names of metrics, or how to compute one. */
  lines: { label: string; color: string; of: string | ((metrics: Step['metrics']) => number | undefined) }[]
  /** A value above the first threshold is a warning. */
  threshold?: number
  /** A metric that is added to the threshold, where a step has it. */
  plus?: string
  crossed?: string
  /** What the number means in a healthy run. */
  about: string
  format?: Format
}

const share = (part: number | undefined, whole: number | undefined): number | undefined =>
  part === undefined || !whole ? undefined : part / whole

/** The main metrics, in order; thresholds are those of the server's warnings. */
const KNOWN: readonly Known[] = [
  {
    title: 'Loss',
    section: 'progress',
    lines: [{ label: 'loss', color: 'accent', of: 'loss' }],
    about: 'Of the policy gradient: its sign and size mean little by themselves.',
  },
  {
    title: 'Entropy',
    section: 'progress',
    lines: [{ label: 'entropy', color: 'kind-tool', of: 'entropy' }],
    about: 'Nats a token. Near 0 the model has made up its mind and explores no more.',
  },
  {
    title: 'KL to the base model',
    section: 'progress',
    lines: [{ label: 'KL', color: 'kind-retriever', of: 'on_policy/kl_to_base' }],
    about: 'How far the step has moved, estimated on its tokens.',
  },
  {
    title: 'Gradient norm',
    section: 'progress',
    lines: [{ label: 'norm', color: 'kind-train', of: 'grad_norm' }],
    about: 'Before clipping. Jumps mean that single batches pull hard.',
  },
  {
    title: 'Log-probability gap',
    section: 'health',
    lines: [
      { label: 'mean', color: 'accent', of: 'on_policy/logprob_gap_mean' },
      { label: 'max', color: 'kind-tool', of: 'on_policy/logprob_gap_max' },
    ],
    threshold: ON_POLICY_MAX.logprobGapMean,
    plus: 'on_policy/logprob_gap_of_rounding',
    crossed:
      'The trainer finds other log-probabilities than the sampler. Were rollouts sampled from another step, or elsewhere?',
    about: 'Between sampler and trainer, nats a token.',
  },
  {
    title: 'Clipped share',
    section: 'health',
    lines: [{ label: 'clipped', color: 'accent', of: 'on_policy/share_clipped' }],
    threshold: ON_POLICY_MAX.shareClipped,
    crossed: 'Many ratios lie outside the clip range. Lower the learning rate, or train on fresher rollouts.',
    about: 'Tokens whose importance ratio lies outside the clip range.',
    format: formatShare,
  },
  {
    title: 'Importance ratio',
    section: 'health',
    lines: [{ label: 'mean', color: 'accent', of: 'on_policy/ratio_mean' }],
    about: '1 is on-policy.',
  },
  {
    title: 'Groups without a difference',
    section: 'health',
    lines: [
      {
        label: 'share',
        color: 'accent',
        of: (metrics) => {
          const trainable = share(metrics['num_groups_trainable'], metrics['num_groups_submitted'])
          return trainable === undefined ? undefined : 1 - trainable
        },
      },
    ],
    threshold: 0.5,
    crossed:
      'Most groups got one reward for all attempts, which teaches nothing. Try harder or easier tasks.',
    about: 'All attempts got the same reward, so nothing is learned from them.',
    format: formatShare,
  },
  {
    title: 'Age of rollouts',
    section: 'health',
    lines: [
      { label: 'max', color: 'kind-tool', of: 'on_policy/versions_behind_max' },
      { label: 'mean', color: 'accent', of: 'on_policy/versions_behind_mean' },
    ],
    threshold: ON_POLICY_MAX.versionsBehindMax,
    crossed: 'Some rollouts were sampled well before the step that is trained.',
    about: 'Steps between the sampling model and the trained one.',
  },
  {
    title: 'Tokens without log-probabilities',
    section: 'health',
    lines: [
      { label: 'without', color: 'accent', of: 'on_policy/tokens_without_logprobs' },
      { label: 'forced', color: 'kind-tool', of: 'on_policy/tokens_forced' },
      { label: 'biased', color: 'kind-train', of: 'on_policy/tokens_biased' },
    ],
    threshold: ON_POLICY_MAX.tokensWithoutLogprobs,
    crossed: 'Some tokens came without log-probabilities and count as on-policy. Sample with logprobs=true.',
    about: 'Tokens whose sampling the trainer cannot correct for.',
  },
  {
    title: 'Context rendered anew',
    section: 'health',
    lines: [{ label: 'tokens', color: 'accent', of: 'on_policy/share_with_rebuilt_context' }],
    threshold: 0,
    crossed:
      'Some choices do not carry the token ids of their prompts, so they are trained on in a context that may not be what they were sampled in.',
    about: 'Tokens that are not surely trained on in the context that they were sampled in.',
    format: formatShare,
  },
  {
    title: 'Answer length',
    section: 'health',
    lines: [
      {
        label: 'tokens',
        color: 'accent',
        of: (metrics) => share(metrics['num_trainable_tokens'], metrics['num_trajectories']),
      },
    ],
    about: 'Sampled tokens of a trajectory.',
  },
]

/** Colours of rewards of several splits, by their order. */
const REWARD_COLORS = ['accent', 'kind-eval', 'kind-tool', 'kind-train']

/** The charts of some steps; unknown metrics get one each. */
export function panelsOf(steps: readonly Step[]): Panel[] {
  const names = new Set(steps.flatMap(({ metrics }) => Object.keys(metrics)))
  const used = new Set<string>()
  const known = KNOWN.flatMap((entry) => {
    const lines = entry.lines.map(({ label, color, of }) => {
      if (typeof of === 'string') used.add(of)
      const read = typeof of === 'string' ? (metrics: Step['metrics']) => metrics[of] : of
      return { label, color, values: steps.map(({ metrics }) => read(metrics) ?? null) }
    })
    return lines[0]?.values.some((value) => value !== null) ? [panelOf(entry, lines, steps)] : []
  })
  const reward = rewardPanel(steps, names, used)
  const others = [...names].filter((name) => !used.has(name) && !DERIVED.has(name)).sort()
  return [
    ...(reward === undefined ? [] : [reward]),
    ...known,
    ...others.map(
      (name): Panel => ({
        id: name,
        title: name,
        section: 'other',
        lines: [{ label: name, color: 'accent', values: steps.map(({ metrics }) => metrics[name] ?? null) }],
      }),
    ),
  ]
}

/** Shown as parts of known charts. */
const DERIVED = new Set([
  'reward_std_dev',
  'on_policy/logprob_gap_of_rounding',
  'on_policy/tokens_with_rebuilt_context',
])

function panelOf(entry: Known, lines: Line[], steps: readonly Step[]): Panel {
  const { title, section, crossed, about, format } = entry
  const more = entry.plus === undefined ? 0 : (steps.at(-1)?.metrics[entry.plus] ?? 0)
  const threshold = entry.threshold === undefined ? undefined : entry.threshold + more
  const newest = lines[0]?.values.findLast((value) => value !== null)
  const isCrossed = threshold !== undefined && newest != null && newest > threshold
  return {
    id: title,
    title,
    section,
    lines,
    ...(threshold !== undefined && threshold > 0 && { threshold }),
    ...(format !== undefined && { format }),
    note:
      isCrossed && crossed !== undefined ? { text: crossed, tone: 'warn' } : { text: about, tone: 'quiet' },
  }
}

function rewardPanel(
  steps: readonly Step[],
  names: ReadonlySet<string>,
  used: Set<string>,
): Panel | undefined {
  const rewards = [REWARD, ...[...names].filter((name) => name.endsWith(`/${REWARD}`)).sort()].filter(
    (name) => names.has(name),
  )
  if (rewards.length === 0) return undefined
  for (const name of rewards) used.add(name)
  return {
    id: REWARD,
    title: 'Reward',
    section: 'progress',
    lines: rewards.map((name, index) => ({
      label: name === REWARD ? 'trained on' : name.slice(0, -REWARD.length - 1),
      color: REWARD_COLORS[index % REWARD_COLORS.length] ?? 'accent',
      values: steps.map(({ metrics }) => metrics[name] ?? null),
      ...(name === REWARD && { band: bandOf(steps) }),
    })),
    note: {
      text: 'Mean of the trajectories that a step was trained on, ± their spread within a group.',
      tone: 'quiet',
    },
  }
}

function bandOf(steps: readonly Step[]) {
  const edge = (sign: 1 | -1) =>
    steps.map(({ metrics }) => {
      const [mean, spread] = [metrics[REWARD], metrics['reward_std_dev']]
      return mean === undefined || spread === undefined ? null : mean + sign * spread
    })
  return { low: edge(-1), high: edge(1) }
}
