import type { CallContext } from '../../http/caller.ts'
import { type RateLimitState, rateLimitHeaders } from '../../rate-limit-headers.ts'
import { nameOf, type Target } from '../served-models/service.ts'
import type { Admission, Payer } from './admission.ts'
import type { StreamEnd } from './event-stream.ts'
import type { Project } from './project-header.ts'
import type { TokenUsage } from './reply-rewriter.ts'
import type { AnswerSpeeds } from './speeds.ts'
import { estimated, type UsageRecorder } from './spending.ts'

/** What one request holds until it has ended, in any way. */
export interface OpenedRequest {
  /** The owner that it counts for in the queue for the engine. */
  group: string
  signal: AbortSignal
  hold(release: (() => void) | undefined): void
  /** Says in headers of the reply what is left of limits and budgets. */
  showLeft(): void
  /** @param spent undefined for a request that used nothing */
  end(spent: StreamEnd | undefined): void
}

export interface OpenerDeps {
  admission: Admission
  usage: UsageRecorder
  speeds: Pick<AnswerSpeeds, 'record'>
}

/** What a request asks, and what it counts for. */
export interface Opening {
  target: Target
  project: Project | undefined
  onUsage: ((usage: TokenUsage) => void) | undefined
}

/** Admits requests. @throws 429 beyond a limit, 402 where a budget is spent */
export type Opener = (opening: Opening, context: CallContext) => Promise<OpenedRequest>

export function createOpener({ admission, usage, speeds }: OpenerDeps): Opener {
  return async ({ target, project, onUsage }, context) => {
    const payer = payerOf(project, context)
    const spender = { keyId: payer.key, entity: payer.entity, project }
    context.limits?.forEntity(payer.entity, context.bodyBytes)
    await usage.admit(spender, context)
    showTokens(admission.tokens(payer), context)
    const place = admission.enter(payer)
    const client = new AbortController()
    const held: (() => void)[] = []
    const startedAt = performance.now()
    const bytes = context.bodyBytes ?? 0
    let isOpen = true
    return {
      group: payer.project ?? `${payer.entity}/${payer.key}`,
      signal: AbortSignal.any([context.signal, client.signal]),
      hold: (release) => void (release && held.push(release)),
      showLeft() {
        showTokens(admission.tokens(payer), context)
        usage.show(spender, context)
      },
      end(spent) {
        if (!isOpen) return
        isOpen = false
        for (const release of held) release()
        place.leave(spent === undefined ? 0 : tokensOf(spent.usage ?? estimated({ ...spent, bytes })))
        if (spent !== undefined) usage.record({ ...spender, ...modelOf(target), bytes, ...spent })
        if (spent?.usage === undefined) return client.abort()
        const { completion_tokens } = spent.usage
        const endedAt = performance.now()
        speeds.record(nameOf(target), { startedAt, firstAt: spent.firstAt, endedAt, completion_tokens })
        onUsage?.(spent.usage)
      },
    }
  }
}

function payerOf(project: Project | undefined, { caller }: CallContext): Payer {
  const entity = project?.entity ?? caller.defaultEntity
  return { key: caller.keyId, project: project && `${project.entity}/${project.project}`, entity }
}

/** In headers, of a refusal too. */
function showTokens(states: readonly RateLimitState[], { limits }: CallContext): void {
  for (const [name, value] of Object.entries(rateLimitHeaders('tokens', states)))
    limits?.setHeader(name, value)
}

function modelOf(target: Target) {
  const { baseModel, trained } = target
  return { model: nameOf(target), baseModel, step: trained?.checkpoint.step }
}

function tokensOf({ prompt_tokens, completion_tokens }: TokenUsage): number {
  return prompt_tokens + completion_tokens
}
