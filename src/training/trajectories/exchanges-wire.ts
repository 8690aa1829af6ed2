import { z } from 'zod'
import { DateTimeText } from '../../trace/date-time-wire.ts'

const times = { start_time: DateTimeText.nullish(), end_time: DateTimeText.nullish() }
const Items = z.array(z.looseObject({}))

const ChatExchange = z.looseObject({
  ...times,
  request: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })), tools: Items.nullish() }),
  response: z.looseObject({
    choices: z.array(
      z.looseObject({ finish_reason: z.string().nullish(), message: z.looseObject({ role: z.string() }) }),
    ),
  }),
})

const Ids = z.array(z.int().nonnegative())

const CompletionsExchange = z.looseObject({
  ...times,
  request: z.looseObject({ prompt: z.union([z.string(), z.array(z.string()), Ids, z.array(Ids)]) }),
  response: z.looseObject({ choices: z.array(z.looseObject({ text: z.string() })) }),
})

const ResponsesExchange = z.looseObject({
  ...times,
  request: z.looseObject({ input: z.union([z.string(), Items]), instructions: z.string().nullish() }),
  response: z.looseObject({ output: Items }),
})

const MessagesExchange = z.looseObject({
  ...times,
  request: z.looseObject({
    messages: z.array(z.looseObject({ role: z.string() })),
    system: z.union([z.string(), Items]).nullish(),
  }),
  response: z.looseObject({ content: Items }),
})

/**
 * Requests to models with their responses, as newer clients record a trajectory, in place of its messages and choices.
 * Each list has the exchanges of one API: chat completions and completions of OpenAI, its responses, and Anthropic's
 * messages.
 */
export const Exchanges = z
  .looseObject({
    chat_completions: z.array(ChatExchange).nullish(),
    completions: z.array(CompletionsExchange).nullish(),
    responses: z.array(ResponsesExchange).nullish(),
    messages: z.array(MessagesExchange).nullish(),
  })
  .meta({ id: 'TrajectoryExchanges' })
