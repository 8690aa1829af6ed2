import { post } from './bulk.ts'

/** A red square, 8 pixels wide. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGO4o6GBFTEMLQkArJZoAYc6Q1MAAAAASUVORK5CYII='

const QUESTIONS = [
  'What is in this picture, and who sells it?',
  'Which of them delivers within two days?',
  'Order two from the cheapest one, please.',
]

const ANSWERS = [
  `It is a **red square** tile.\n\n| supplier | price | days |\n|---|---|---|\n| Aldous & Co | $4.20 | 2 |\n| Brightside | $3.90 | 5 |\n\nBoth have it in stock; see \`catalogue.find("tile-red")\`.`,
  'Only **Aldous & Co**:\n\n1. ordered before noon, it is sent the same day\n2. it arrives on the second day\n\n```python\norder(supplier="aldous", item="tile-red", count=2)\n```',
  'Done. Two red tiles will arrive on Thursday.',
]

export interface LoadedTalk {
  thread: string
  /** The last turn. */
  turn: string
  /** The call of the model in the last turn. */
  chat: string
}

/** A conversation of three turns with an assistant that looks things up, as an application with weave sends it. */
export async function loadTalk(
  url: string,
  project: string,
  thread = 'tiles-for-the-bathroom',
): Promise<LoadedTalk> {
  const history: object[] = [{ role: 'system', content: 'You help people to buy tiles. Be short and exact.' }]
  const now = Date.now() - 300_000
  let turn = ''
  let chat = ''
  for (const [index, question] of QUESTIONS.entries()) {
    turn = crypto.randomUUID()
    chat = crypto.randomUUID()
    const content =
      index === 0
        ? [
            { type: 'text', text: question },
            { type: 'image_url', image_url: { url: PICTURE } },
          ]
        : question
    const call = {
      id: `call_${index}`,
      type: 'function',
      function: { name: 'search_catalogue', arguments: '{"query":"red tile","limit":5}' },
    }
    const result = {
      found: [
        { supplier: 'aldous', price: 4.2 },
        { supplier: 'brightside', price: 3.9 },
      ],
    }
    history.push(
      { role: 'user', content },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'I need the catalogue for that.',
        tool_calls: [call],
      },
      { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) },
    )
    const answer = { role: 'assistant', content: ANSWERS[index] }
    const at = (ms: number) => new Date(now + index * 60_000 + ms).toISOString()
    const usage = {
      'gpt-4o-mini': {
        prompt_tokens: 420 + index * 300,
        completion_tokens: 60,
        total_tokens: 480 + index * 300,
        requests: 1,
      },
    }
    const common = { trace_id: turn, thread_id: thread, turn_id: turn, attributes: { env: 'production' } }
    await post(url, `/v2/${project}/calls/complete`, {
      batch: [
        {
          ...common,
          id: turn,
          op_name: 'assistant_turn',
          started_at: at(0),
          ended_at: at(2400),
          inputs: { message: question },
          output: ANSWERS[index],
          summary: { usage },
        },
        {
          ...common,
          id: crypto.randomUUID(),
          parent_id: turn,
          op_name: 'search_catalogue',
          started_at: at(100),
          ended_at: at(340),
          inputs: { query: 'red tile', limit: 5 },
          output: result,
          summary: {},
        },
        {
          ...common,
          id: chat,
          parent_id: turn,
          op_name: 'openai.chat.completions.create',
          started_at: at(400),
          ended_at: at(2300),
          inputs: { model: 'gpt-4o-mini', temperature: 0.2, messages: [...history] },
          output: { choices: [{ index: 0, message: answer, finish_reason: 'stop' }] },
          summary: { usage },
        },
      ],
    })
    history.push(answer)
  }
  return { thread, turn, chat }
}
