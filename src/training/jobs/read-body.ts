import { z } from 'zod'
import { tooLarge } from '../../errors.ts'
import { jsonInvalid, validationFailure } from '../../http/validation-error.ts'
import { TrajectoryGroup } from '../trajectories-wire.ts'
import { createGroupSplitter } from './split-groups.ts'
import { JobHead } from './wire.ts'

/** About ten million tokens with their logprobs. */
const JOB_BYTES_MAX = 1024 * 1024 * 1024

/** A body whose groups have all been read leaves an empty list behind. */
const Head = JobHead.extend({
  trajectory_groups: z.array(z.never({ error: 'A key of the body is written in an unusual way' })),
})

/** Reads the body of a job as it arrives. */
export interface JobBody {
  /** One checked group a line, for as long as the body lasts. @throws 422 or 413; nothing may be kept then. */
  lines(): AsyncGenerator<string>
  /** What the body says beside its groups, once `lines` has ended. */
  head(): z.output<typeof JobHead>
}

/** Checks a job's body group by group, so that memory holds one group at a time. */
export function readJobBody(stream: ReadableStream<Uint8Array>): JobBody {
  const splitter = createGroupSplitter()
  let head: z.output<typeof JobHead> | undefined
  return {
    async *lines() {
      let bytes = 0
      let index = 0
      for await (const chunk of stream) {
        bytes += chunk.byteLength
        if (bytes > JOB_BYTES_MAX) throw tooLarge(`A training job may have ${JOB_BYTES_MAX} bytes at most`)
        for (const text of split(chunk)) {
          checkGroup(text, index++)
          yield `${text}\n`
        }
      }
      head = checkHead(splitter.head())
    },
    head() {
      if (head === undefined) throw new Error('The body has not been read to its end')
      return head
    },
  }

  function split(chunk: Uint8Array): string[] {
    try {
      return splitter.push(chunk)
    } catch (error) {
      throw error instanceof SyntaxError ? jsonInvalid(error) : error
    }
  }
}

function checkGroup(text: string, index: number): void {
  const value = parse(text)
  const checked = TrajectoryGroup.safeParse(value)
  if (checked.success) return
  const inBody = checked.error.issues.map((issue) => ({
    ...issue,
    path: ['trajectory_groups', index, ...issue.path],
  }))
  // The groups before this one are not at hand, so only this index is filled in for the error's `input`.
  throw validationFailure('body', new z.ZodError(inBody), { trajectory_groups: { [index]: value } })
}

function checkHead(text: string): z.output<typeof JobHead> {
  const value = parse(text)
  const checked = Head.safeParse(value)
  if (!checked.success) throw validationFailure('body', checked.error, value)
  return checked.data
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw error instanceof SyntaxError ? jsonInvalid(error) : error
  }
}
