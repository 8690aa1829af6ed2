import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { countFilledChars, type FilledChars, valueTexts } from '../../filled-templates.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { isRef, parseRef, versionNamed } from '../../trace/ref-uri.ts'
import { type CompletionInputs, Message } from './wire.ts'

const Prompt = z.object({ messages: z.array(Message) })

const TextPart = z.looseObject({ text: z.string() })

/**
 * The inputs with the prompt's messages before their own, placeholders filled in, and nothing that is null.
 * @throws 400 for an invalid prompt, 404 for an unknown one, 413 for messages that would be too long, and what `holds`
 * throws.
 */
export async function filledInputs(
  { prompt, template_vars: values, ...inputs }: CompletionInputs,
  options: {
    projectId: string
    objects: Pick<Objects, 'read'>
    /** Called with the number of characters in filled templates. */
    holds?: ((chars: number) => void) | undefined
  },
): Promise<CompletionInputs> {
  const first = prompt == null ? [] : await messagesOf(prompt, options)
  const all = [...first, ...inputs.messages]
  const filled = countFilledChars()
  const messages = values == null ? all : all.map(filler(values, filled))
  options.holds?.(filled.total())
  const present = Object.entries(inputs).filter(([, value]) => value != null)
  return { ...Object.fromEntries(present), model: inputs.model, messages }
}

async function messagesOf(
  prompt: string,
  { projectId, objects }: { projectId: string; objects: Pick<Objects, 'read'> },
): Promise<Message[]> {
  if (!isRef(prompt)) throw invalidRequest('prompt must be the ref of a prompt object')
  const ref = parseRef(prompt)
  if (ref.kind !== 'object' || ref.version === undefined || ref.projectId !== projectId)
    throw invalidRequest('prompt must be the ref of an object of this project')
  const { obj } = await objects.read(versionNamed(ref))
  const parsed = Prompt.safeParse(obj.val?.value())
  if (!parsed.success) throw invalidRequest(`${ref.name} is no prompt: it has no list of messages`)
  return parsed.data.messages
}

/** What replaces each `{name}` that has a value, in the text of a message or of its parts. */
function filler(values: Record<string, unknown>, filled: FilledChars): (message: Message) => Message {
  const textOf = valueTexts(values, shown, filled)

  function fill(text: string): string {
    filled.add(text.length)
    return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
      filled.placeholder()
      return Object.hasOwn(values, name) && values[name] !== undefined ? textOf(name) : placeholder
    })
  }

  return (message) => {
    const { content } = message
    if (typeof content === 'string') return { ...message, content: fill(content) }
    if (!Array.isArray(content)) return message
    return {
      ...message,
      content: content.map((part: unknown) => {
        const parsed = TextPart.safeParse(part)
        return parsed.success ? { ...parsed.data, text: fill(parsed.data.text) } : part
      }),
    }
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
