import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type ChatMessage, scoreConversation } from '../../../api/completions.ts'
import { stepName } from '../../../api/model-names.ts'
import type { Model } from '../../../api/training.ts'
import type { Turn } from '../../../api/trajectories.ts'
import type { Json } from '../../../api/wire.ts'
import { formatDelta, formatNumber, formatShare, MISSING } from '../../../components/format.ts'
import { useKeys } from '../../../components/keys.ts'
import { Select } from '../../../components/select.tsx'
import { ErrorState, Skeleton } from '../../../components/states.tsx'
import { answerOf, finishOf, memberOf, messagesOf } from './groups.ts'
import {
  isOutlier,
  QUANTITIES,
  QUANTITY_NAMES,
  type Quantity,
  scaleOf,
  type TokenFacts,
} from './token-colors.ts'
import { sampledEnd } from './token-lines.ts'
import { TokenText } from './token-text.tsx'

interface TokenViewProps {
  model: Model
  /** The step that was trained on it. */
  step: number
  /** The last turn of a history, which holds all before it. */
  turn: Turn
  advantage: number
}

/**
 * Log-probabilities of each token of an attempt under two steps. Clients may send answers without log-probabilities, so
 * both are computed again, with the weights of the step that sampled and of the one that was trained.
 */
export function TokenView({ model, step, turn, advantage }: TokenViewProps) {
  const [quantity, setQuantity] = useState<Quantity>('before')
  const [hovered, setHovered] = useState<number>()
  const [pinned, setPinned] = useState<number>()
  const sampler = turn.place.initial_policy_version ?? Math.max(0, step - 1)
  const scored = useQuery({
    queryKey: ['tokens', model.id, sampler, step, turn.id],
    queryFn: ({ signal }) => scoreTurn({ model, sampler, step, turn }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  const tokens = useMemo(
    () => (scored.data ?? []).map((token): TokenFacts => ({ ...token, advantage })),
    [scored.data, advantage],
  )
  const scale = useMemo(() => scaleOf(tokens, quantity), [tokens, quantity])
  const next = () => {
    const from = (pinned ?? -1) + 1
    const all = tokens
      .map((token, index) => (isOutlier(token, quantity) ? index : -1))
      .filter((at) => at >= 0)
    setPinned(all.find((index) => index >= from) ?? all[0])
  }
  useKeys('Tokens', [{ keys: 'n', does: 'The next token worth a look', run: next }])
  if (scored.error !== null)
    return (
      <ErrorState
        title="The tokens could not be scored"
        error={scored.error}
        onRetry={() => void scored.refetch()}
      />
    )
  const shown = tokens[hovered ?? pinned ?? -1]
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <Select
          label="Colour tokens by"
          value={quantity}
          options={QUANTITIES.map((value) => ({ value, label: QUANTITY_NAMES[value] }))}
          onChange={setQuantity}
        />
        <span className="tabular text-2xs text-muted">{scale.legend}</span>
      </div>
      <TokenReadout token={shown} sampler={sampler} step={step} />
      {scored.isPending ? (
        <div className="flex flex-col gap-2 p-3">
          {['w-full', 'w-4/5', 'w-3/5'].map((width) => (
            <Skeleton key={width} className={`h-5 ${width}`} />
          ))}
        </div>
      ) : (
        <TokenText
          tokens={tokens}
          quantity={quantity}
          scale={scale}
          pinned={pinned}
          onHover={setHovered}
          onPin={setPinned}
        />
      )}
      <p className="shrink-0 border-t border-hair px-3 py-2 text-2xs text-muted">
        Computed now with the weights of step {sampler}, which sampled, and of step {step}, which was trained.
        The API does not show what the sampler itself gave; the charts under Curves tell how far both differ.
      </p>
    </div>
  )
}

function TokenReadout({
  token,
  sampler,
  step,
}: {
  token: TokenFacts | undefined
  sampler: number
  step: number
}) {
  const ratio = token?.before == null || token.after == null ? null : Math.exp(token.after - token.before)
  const facts = [
    ['id', token === undefined ? MISSING : String(token.id)],
    [`step ${sampler}`, logprobText(token?.before)],
    [`step ${step}`, logprobText(token?.after)],
    ['ratio', formatNumber(ratio)],
    ['advantage', token?.isSampled ? formatDelta(token.advantage) : MISSING],
    ['trained', token === undefined ? MISSING : token.isSampled ? 'yes' : 'no, prompt'],
  ] as const
  return (
    <dl className="tabular flex min-h-7 shrink-0 flex-wrap items-center gap-x-4 border-y border-hair bg-inset px-3 text-2xs">
      <div className="w-28 truncate font-mono text-strong">
        <dt className="sr-only">token</dt>
        <dd>{token === undefined ? 'point at a token' : JSON.stringify(token.text)}</dd>
      </div>
      {facts.map(([name, value]) => (
        <div key={name} className="flex gap-1">
          <dt className="text-muted">{name}</dt>
          <dd className="text-strong">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function logprobText(logprob: number | null | undefined): string {
  return logprob == null ? MISSING : `${formatNumber(logprob)} (${formatShare(Math.exp(logprob))})`
}

interface Scored {
  model: Model
  sampler: number
  step: number
  turn: Turn
}

async function scoreTurn(
  { model, sampler, step, turn }: Scored,
  signal: AbortSignal,
): Promise<Omit<TokenFacts, 'advantage'>[]> {
  const answer = answerOf(turn)
  if (answer === undefined) return []
  // Wire: a message of a trajectory is one of the chat API, with nulls for what it lacks.
  const messages = [...messagesOf(turn), answer].map(
    (message) =>
      Object.fromEntries(
        Object.entries(message).filter(([, value]) => value !== null),
      ) as unknown as ChatMessage,
  )
  const tools = memberOf(turn.inputs, 'tools') as Json | undefined
  const score = (of: number) => scoreConversation({ model: stepName(model, of), messages, tools }, { signal })
  const [before, after] = await Promise.all([score(sampler), score(step)])
  const end = sampledEnd(
    before.tokens.map(({ text }) => text),
    finishOf(turn),
  )
  return before.tokens.map(({ id, text, logprob }, index) => ({
    id,
    text,
    isSampled: index >= before.answerFrom && index < end,
    before: logprob,
    after: after.tokens[index]?.logprob ?? null,
  }))
}
