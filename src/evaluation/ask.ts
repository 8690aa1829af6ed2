import { z } from 'zod'
import type { CallContext } from '../http/caller.ts'
import { BadAnswer } from '../inference/playground/answer-errors.ts'
import type { Playground } from '../inference/playground/service.ts'
import type { CompletionInputs } from '../inference/playground/wire.ts'
import type { RecordedCalls } from './recorded-calls.ts'
import { withRetries } from './retry.ts'

const Completion = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.unknown() }) })).min(1),
  usage: z.looseObject({}).nullish(),
})

/** Asks a model and returns the content of its answer. */
export type Ask = (inputs: CompletionInputs) => Promise<unknown>

/**
 * Asks models as calls below `calls`. @throws ClientError with the error of the model or its service after the last
 * attempt.
 */
export function askAs(
  {
    playground,
    context,
    project_id,
  }: { playground: Pick<Playground, 'ask'>; context: CallContext; project_id: string },
  calls: RecordedCalls,
): Ask {
  let asked = 0
  return (inputs) =>
    calls.call(
      { op_name: 'weave.completions_create', inputs, seed: `${calls.id}/ask/${asked++}` },
      async () => {
        const text = await withRetries(() => playground.ask(inputs, { project_id, context }), context.signal)
        const answer = JSON.parse(text)
        const parsed = Completion.safeParse(answer)
        if (!parsed.success) throw new BadAnswer('The model answered without a message', parsed.error)
        const usage = parsed.data.usage == null ? undefined : { [inputs.model]: parsed.data.usage }
        return { result: parsed.data.choices[0]?.message.content, output: answer, usage }
      },
    )
}
