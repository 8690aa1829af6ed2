import type { ChatRequest } from '../../api/completions.ts'
import { encodedProject, PROJECT_HEADER, type ProjectName } from '../../api/project.ts'

/** A request, and the project that it counts for. */
interface RequestOfProject {
  request: ChatRequest
  project: ProjectName
}

/** The same request from a terminal. */
export function curlOf(origin: string, { request, project }: RequestOfProject): string {
  return `curl ${origin}/v1/chat/completions \\
  -H 'authorization: Bearer '"$HEDDLE_KEY" \\
  -H 'content-type: application/json' \\
  -H ${quoted(`${PROJECT_HEADER}: ${encodedProject(project)}`)} \\
  -d ${quoted(JSON.stringify(request, null, 2))}`
}

/** As a shell reads it as one text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Parameters of the client's own method; all others go as `extra_body`. */
const OPENAI = new Set([
  'model',
  'messages',
  'temperature',
  'max_tokens',
  'top_p',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'response_format',
  'logit_bias',
  'logprobs',
  'top_logprobs',
])

/** The same request with the OpenAI client. */
export function pythonOf(origin: string, { request, project }: RequestOfProject): string {
  const own = Object.entries(request).filter(([name]) => OPENAI.has(name))
  const extra = Object.fromEntries(Object.entries(request).filter(([name]) => !OPENAI.has(name)))
  const lines = own.map(([name, value]) => `    ${name}=${literal(value)},`)
  if (Object.keys(extra).length > 0) lines.push(`    extra_body=${literal(extra)},`)
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url="${origin}/v1",
    api_key=os.environ["HEDDLE_KEY"],
    project=${literal(encodedProject(project))},
)
completion = client.chat.completions.create(
${lines.join('\n')}
)
print(completion.choices[0].message.content)`
}

/** A JSON value as Python writes it. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}: ${literal(member)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
