import { createHash } from 'node:crypto'
import { z } from 'zod'
import { stringify } from '../../json/lossless-json.ts'
import type { Files } from '../../trace/files/service.ts'

const Images = z.looseObject({ data: z.array(z.looseObject({ b64_json: z.string().nullish() })) })

const SIGNATURES = [
  { type: 'png', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { type: 'jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'webp', bytes: [0x52, 0x49, 0x46, 0x46] },
]

/**
 * The provider's reply as a call keeps it: images are files of the project, since their text would make every list of
 * calls slow. URLs stay URLs, because the server fetches only what it is configured to.
 */
export async function withStoredImages(
  reply: string,
  { projectId, files }: { projectId: string; files: Pick<Files, 'create'> },
): Promise<string> {
  async function store(name: string, bytes: Uint8Array): Promise<string> {
    const file = { name, type: 'application/octet-stream', bytes }
    return (await files.create({ project_id: projectId, file })).digest
  }

  /** Wire: the clients' form of a content, which they display as such. */
  async function storeImage(text: string): Promise<unknown> {
    const bytes = Buffer.from(text, 'base64')
    const found = SIGNATURES.find((known) => known.bytes.every((byte, at) => bytes[at] === byte))
    if (found === undefined) return text
    return {
      _type: 'CustomWeaveType',
      weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
      files: {
        content: await store('content', bytes),
        'metadata.json': await store('metadata.json', Buffer.from(metadataOf(bytes, found.type))),
      },
    }
  }

  const parsed = Images.safeParse(JSON.parse(reply))
  if (!parsed.success) return reply
  const data: object[] = []
  for (const image of parsed.data.data) {
    data.push(image.b64_json == null ? image : { ...image, b64_json: await storeImage(image.b64_json) })
  }
  return stringify({ ...parsed.data, data })
}

function metadataOf(bytes: Buffer, type: string): string {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return JSON.stringify({
    size: bytes.byteLength,
    mimetype: `image/${type}`,
    digest,
    filename: `image-${digest.slice(0, 4)}.${type}`,
    content_type: 'bytes',
    input_type: 'bytes',
    encoding: 'utf-8',
    metadata: null,
    extension: `.${type}`,
  })
}
