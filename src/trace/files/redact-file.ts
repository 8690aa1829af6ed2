import type { UploadedFile } from '../../http/route.ts'
import type { Redactor } from '../../redaction/service.ts'

/** Files that are texts are redacted, as JSON where they are JSON; others are bytes of which nothing is known. */
export async function redactedFile(file: UploadedFile, redactor: Redactor): Promise<UploadedFile> {
  const text = textOf(file.bytes)
  const texts = await redactor.redact([
    { form: 'text', text: file.name },
    ...(text === undefined ? [] : [{ form: 'text', text, document: 'file' } as const]),
  ])
  const [name = file.name, content] = texts
  if (name === file.name && content === text) return file
  return {
    ...file,
    name,
    bytes: content === undefined || content === text ? file.bytes : Buffer.from(content),
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
