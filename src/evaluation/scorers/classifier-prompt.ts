import type { Scored } from './scorer.ts'

/**
 * Asks a model which of several classifiers apply to a call or a turn of an agent. Wire: what the model is shown, and
 * the form of its answer, are those of the Python client's `flow/monitor.py`; the words are our own.
 */
export function classifierPrompt(
  scored: Scored,
  classifiers: readonly { name: string; question: string }[],
): string {
  return [
    'Decide for each of the classifiers below, on its own, whether it applies to what is recorded here.',
    element('trace', scored.turn === undefined ? callParts(scored) : turnParts(scored.turn)),
    ...classifiers.map(
      ({ name, question }) => `<classifier name="${escaped(name)}">\n${question}\n</classifier>`,
    ),
    ANSWER_FORM,
  ].join('\n')
}

const ANSWER_FORM = `Answer with one JSON object and nothing around it, in this form:
{"classifiers": {"NAME": {"is_match": true, "confidence": 0.9, "reason": "what in the record shows it"}}}
- There is a member for every classifier, under exactly the name that its tag has.
- "is_match" says whether it applies; "confidence", from 0.0 to 1.0, how sure you are; "reason", in one sentence that names or
  quotes what is in the record, why.
- Go by what is recorded alone. Where several classifiers fit the same thing, only the most specific of them applies.`

function callParts({ inputs, output, call }: Scored): string[] {
  return [
    element('operation', [call?.op_name ?? '']),
    element('status', [call?.exception == null ? 'success' : 'error']),
    element('input', [shown(inputs)]),
    element('output', [shown(output)]),
    element('exception', [call?.exception ?? '']),
  ]
}

function turnParts({ agent, status, conversation, messages }: NonNullable<Scored['turn']>): string[] {
  return [
    element('agent', [shown(agent)]),
    element('status', [`${status.code} ${status.message ?? ''}`.trim()]),
    element('conversation', [conversation.name ?? '']),
    element('system-instructions', messages.system_instructions),
    element('input-messages', [shown(messages.input)]),
    element('output-messages', [shown(messages.output)]),
  ]
}

function element(name: string, lines: readonly string[]): string {
  return `<${name}>\n${lines.join('\n')}\n</${name}>`
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function escaped(name: string): string {
  return name.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
