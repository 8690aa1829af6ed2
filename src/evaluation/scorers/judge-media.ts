import { extname } from 'node:path'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import type { Files } from '../../trace/files/service.ts'
import { valuesAtPath } from './json-path-values.ts'
import type { Scored } from './scorer.ts'

/** Media of one question, and their bytes; models take some tens of images at most. */
const MEDIA_MAX = 32
const BYTES_MAX = 64 * 1024 * 1024

/** Values visited while searching for media. */
const VALUES_MAX = 100_000

const KINDS = ['image', 'audio', 'video'] as const
export type MediaKind = (typeof KINDS)[number]

/**
 * Wire: `custom` types of the clients keep their bytes as files of these names; a Content says its type beside them.
 */
const MIME_TYPES: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mov': 'video/quicktime',
}

/** How models name formats of audio that their MIME types name otherwise. */
const AUDIO_FORMATS: Record<string, string> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' }

interface MediaRequest {
  kinds: ReadonlySet<MediaKind>
  /** Where to look for media, as JSON paths below `inputs` or `output`; all inputs where empty. */
  paths: readonly string[]
  project_id: string
}

/**
 * The media of a scored call, as parts of a message.
 * @throws 400 for a path that leads to something else, or a file that is not here; 413 for too many or too large ones.
 */
export async function mediaParts(
  files: Pick<Files, 'read'>,
  { inputs, output }: Scored,
  { kinds, paths, project_id }: MediaRequest,
): Promise<object[]> {
  const root = { ...inputs, inputs, output }
  const values = paths.length === 0 ? [[inputs]] : paths.map((path) => valuesAtPath(root, path))
  const parts: object[] = []
  let bytes = 0
  for (const found of mediaIn(values)) {
    const part = await partOf(found, { files, kinds, project_id })
    if (part === undefined) continue
    bytes += JSON.stringify(part).length
    if (parts.push(part) > MEDIA_MAX || bytes > BYTES_MAX)
      throw tooLarge(`A judge is asked about at most ${MEDIA_MAX} media of ${BYTES_MAX} bytes in all`)
  }
  return parts
}

type Found =
  | { kind: 'url'; media: MediaKind; url: string }
  | { kind: 'audio'; data: string; format: string }
  | { kind: 'files'; names: Record<string, unknown> }

/** Every medium in the values of some places, in the order in which they stand there. */
function* mediaIn(places: readonly Iterable<unknown>[]): Generator<Found> {
  let looked = 0
  for (const values of places)
    for (const top of values) {
      const waiting = [top]
      while (waiting.length > 0) {
        if (++looked + waiting.length > VALUES_MAX)
          throw tooLarge('There is too much to search for media: name media_scoring_json_paths')
        const value = waiting.pop()
        const found = mediumOf(value)
        if (found !== undefined) yield found
        else for (const child of membersOf(value).reverse()) waiting.push(child)
      }
    }
}

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return [...value]
  return isRecord(value) ? Object.values(value) : []
}

const DATA_URL = /^data:(image|audio|video)\/([\w.+-]+);base64,/

function mediumOf(value: unknown): Found | undefined {
  if (typeof value === 'string') {
    const [, media] = DATA_URL.exec(value.slice(0, 100)) ?? []
    return media === undefined ? undefined : { kind: 'url', media: media as MediaKind, url: value }
  }
  if (!isRecord(value)) return undefined
  for (const media of ['image', 'video'] as const) {
    const part = value[`${media}_url`]
    const url = isRecord(part) ? part['url'] : part
    if (typeof url === 'string') return { kind: 'url', media, url }
  }
  const audio = value['input_audio']
  if (isRecord(audio)) return { kind: 'audio', data: String(audio['data']), format: String(audio['format']) }
  if (value['_type'] === 'CustomWeaveType' && isRecord(value['files']))
    return { kind: 'files', names: value['files'] }
  return undefined
}

async function partOf(
  found: Found,
  {
    files,
    kinds,
    project_id,
  }: { files: Pick<Files, 'read'>; kinds: ReadonlySet<MediaKind>; project_id: string },
): Promise<object | undefined> {
  if (found.kind === 'audio') {
    const { data, format } = found
    return kinds.has('audio') ? { type: 'input_audio', input_audio: { data, format } } : undefined
  }
  if (found.kind === 'url') return kinds.has(found.media) ? partOfUrl(found.media, found.url) : undefined
  const read = async (digest: unknown): Promise<Buffer> => {
    const bytes = await files.read({ project_id, digest: String(digest) }, { bytesMax: BYTES_MAX })
    if (bytes === undefined) throw invalidRequest(`The file ${String(digest)} is not here, or too large`)
    return Buffer.from(bytes)
  }
  const named = Object.entries(found.names).find(([name]) => mediaOf(MIME_TYPES[extname(name)]) !== undefined)
  const { content, 'metadata.json': metadata } = found.names
  const [digest, type] =
    named !== undefined
      ? [named[1], MIME_TYPES[extname(named[0])]]
      : [content, metadata === undefined ? undefined : mimeTypeIn(await read(metadata))]
  const media = mediaOf(type)
  if (media === undefined || digest === undefined || !kinds.has(media)) return undefined
  return partOfUrl(media, `data:${type};base64,${(await read(digest)).toString('base64')}`)
}

function mediaOf(mimeType: string | undefined): MediaKind | undefined {
  return KINDS.find((kind) => mimeType?.startsWith(`${kind}/`))
}

/** Wire: `metadata.json` of a Content. */
function mimeTypeIn(metadata: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(metadata.toString('utf8'))
    return isRecord(value) && typeof value['mimetype'] === 'string' ? value['mimetype'] : undefined
  } catch {
    return undefined
  }
}

function partOfUrl(media: MediaKind, url: string): object {
  if (media !== 'audio') return { type: `${media}_url`, [`${media}_url`]: { url } }
  const [prefix = '', , format = ''] = DATA_URL.exec(url) ?? []
  return {
    type: 'input_audio',
    input_audio: { data: url.slice(prefix.length), format: AUDIO_FORMATS[format] ?? format },
  }
}
