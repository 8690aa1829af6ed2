import { tooLarge } from '../errors.ts'
import type { CallContext } from '../http/caller.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Feedback } from '../trace/feedback/service.ts'
import { projectIdOf } from '../trace/project-path-wire.ts'
import { forEachYielding } from '../yielding.ts'
import type { Candidate } from './candidate.ts'
import type { Conversation } from './chat-shapes.ts'
import { createConversations } from './conversations.ts'
import type { Tally } from './left-out.ts'
import { ifHoldable, type Made, type Row, rowOfColumns, rowOfConversation, rowOfTrajectory } from './rows.ts'
import { createScores, refusalOf } from './scores.ts'
import { createSources, type SourcesDeps } from './sources.ts'
import type { CollectReq } from './wire.ts'

/** Characters of all rows, which are in memory until the last call has been read. */
const ROWS_CHARS_MAX = 128 * 1024 * 1024

export interface CollectorDeps extends SourcesDeps {
  calls: Calls
  feedback: Pick<Feedback, 'query'>
}

/** A request in progress. */
interface Work {
  req: CollectReq
  tally: Tally
  context: CallContext
}

/** The same with what was collected so far. */
interface Progress extends Work {
  /** The model calls of the conversations. */
  taken: Set<string>
}

interface Chosen {
  candidate: Candidate
  score: number | undefined
}

/** Makes rows of calls; every other call is counted with the reason. */
export interface Collector {
  /** @throws 413 when the rows exceed the memory allowed, and what refuses the source. */
  gather(work: Work): Promise<Row[]>
}

export function createCollector(deps: CollectorDeps): Collector {
  const sources = createSources(deps)
  const scores = createScores(deps)
  const conversations = createConversations(deps)

  /** The calls of a batch that match the request. */
  async function choose(batch: readonly Candidate[], { req, tally, context }: Work): Promise<Chosen[]> {
    const ended = batch.filter(({ call }) => {
      const reason = call.exception ? 'failed' : call.ended_at === null ? 'has not ended' : undefined
      if (reason !== undefined) tally.add(reason, call.id)
      return reason === undefined
    })
    const { score, from, where } = req
    if (score == null) return ended.map((candidate) => ({ candidate, score: undefined }))
    const annotator = 'annotation_queue' in from ? (from.annotation_queue.annotator ?? undefined) : undefined
    const scored = await scores.of(ended, { projectId: projectIdOf(req), score, annotator, context })
    return ended.flatMap((candidate, index) => {
      const found = scored[index] ?? { reason: 'has no score' }
      const reason = 'reason' in found ? found.reason : refusalOf(found.score, where ?? {})
      if (reason !== undefined) tally.add(reason, candidate.call.id)
      return reason === undefined && 'score' in found ? [{ candidate, score: found.score }] : []
    })
  }

  /** The result for each, in their order. */
  async function make(chosen: readonly Chosen[], { req, context, taken }: Progress): Promise<Made[]> {
    const projectId = projectIdOf(req)
    const { into, messages } = req
    const columns = 'dataset' in into ? into.dataset.columns : undefined
    const all: Made[] = []
    if (columns != null) {
      await forEachYielding(chosen, (one) =>
        all.push(ifHoldable(() => rowOfColumns({ projectId, ...one }, columns))),
      )
      return all
    }
    const candidates = chosen.map(({ candidate }) => candidate)
    const where = { messages: messages ?? undefined, projectId, context, taken }
    const understood = await conversations.of(candidates, where)
    await forEachYielding(chosen.entries(), ([index, one]) => {
      const found = understood[index] ?? { reason: 'is no conversation' }
      const source = { projectId, ...one }
      const made = (conversation: Conversation): Made =>
        'trajectory_groups' in into
          ? rowOfTrajectory(source, conversation, into.trajectory_groups)
          : rowOfConversation(source, conversation)
      all.push('reason' in found ? found : ifHoldable(() => made(found.conversation)))
    })
    return all
  }

  async function gather(work: Work): Promise<Row[]> {
    const { req, tally, context } = work
    const progress = { ...work, taken: new Set<string>() }
    const rows: Row[] = []
    let chars = 0
    const source = { projectId: projectIdOf(req), from: req.from, tally, context }
    for await (const batch of sources.candidates(source)) {
      const chosen = await choose(batch, work)
      for (const [index, made] of (await make(chosen, progress)).entries()) {
        if ('reason' in made) {
          tally.add(made.reason, chosen[index]?.candidate.call.id ?? '')
          continue
        }
        chars += made.row.text.length + (made.row.trajectory?.text.length ?? 0)
        if (chars > ROWS_CHARS_MAX)
          throw tooLarge(`The rows have more than ${ROWS_CHARS_MAX} characters: collect fewer calls at once`)
        rows.push(made.row)
      }
    }
    return rows
  }

  return { gather }
}
