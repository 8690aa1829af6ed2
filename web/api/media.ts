import { ask, askJson } from './client.ts'
import { objectOf } from './json.ts'
import { projectId } from './project.ts'
import { parseRef } from './weave-ref.ts'
import type { Json } from './wire.ts'

/** A picture, a sound or another file inside a payload, and where its bytes are. */
export interface Media {
  /** As `image/png`; empty until it has been loaded. */
  mime: string
  name: string
  source:
    | { kind: 'url'; url: string }
    /** Files of the project by their digest; of a `Content`, the type is in a second file. */
    | { kind: 'file'; digest: string; metadata?: string }
    /** An object of this or another project. */
    | { kind: 'ref'; ref: string }
}

/** The kind of media in a value; undefined for other values. */
export function mediaOf(value: Json | undefined): Media | undefined {
  if (typeof value === 'string') return ofUrl(value)
  const of = objectOf(value)
  if (of['_type'] === 'CustomWeaveType') return ofCustomType(objectOf(of['files']))
  const mime = textOf(of['mime_type'] ?? of['media_type'] ?? of['mimeType'])
  for (const name of ['image_url', 'audio_url', 'video_url', 'uri', 'url', 'file_data']) {
    const inner = of[name]
    const url = typeof inner === 'string' ? inner : textOf(objectOf(inner)['url'])
    const found = url === '' ? undefined : ofUrl(url, mime || typeOf(of))
    if (found !== undefined) return found
  }
  const data = of['data'] ?? of['content']
  const format = textOf(of['format'])
  if (typeof data === 'string' && (mime !== '' || format !== ''))
    return ofUrl(`data:${mime || `audio/${format}`};base64,${data}`)
  for (const name of ['source', 'inline_data', 'inlineData', 'input_audio', 'image', 'audio', 'file']) {
    const found = of[name] === undefined ? undefined : mediaOf(of[name])
    if (found !== undefined) return found
  }
  return undefined
}

/** A part that is an image without saying which kind. */
function typeOf(of: { [key: string]: Json | undefined }): string {
  const [, family] = /(image|audio|video)/.exec(textOf(of['type']) || textOf(of['modality'])) ?? []
  return family === undefined ? '' : `${family}/*`
}

function ofUrl(url: string, mime = ''): Media | undefined {
  const data = /^data:([\w.+-]+\/[\w.+*-]+)[;,]/.exec(url)?.[1]
  if (data !== undefined) return { mime: data, name: data, source: { kind: 'url', url } }
  if (/^weave:\/\/\/[^/]+\/[^/]+\/object\//.test(url) && mime !== '')
    return { mime, name: url.split('/').at(-1)?.split(':')[0] ?? '', source: { kind: 'ref', ref: url } }
  if (
    /^https?:\/\//.test(url) &&
    (mime !== '' || /\.(png|jpe?g|gif|webp|svg|wav|mp3|mp4|webm)(\?|$)/i.test(url))
  )
    return { mime: mime || mimeOf(url.replace(/\?.*/, '')), name: url, source: { kind: 'url', url } }
  return undefined
}

const MIMES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  webm: 'video/webm',
  gifv: 'video/mp4',
}

function mimeOf(name: string): string {
  return MIMES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? ''
}

/** Wire: weave's types keep their bytes as files of the project, with a name that tells the format. */
function ofCustomType(files: { [key: string]: Json | undefined }): Media | undefined {
  const metadata = files['metadata.json']
  const content = files['content']
  if (typeof content === 'string' && typeof metadata === 'string')
    return { mime: '', name: 'content', source: { kind: 'file', digest: content, metadata } }
  for (const [name, digest] of Object.entries(files)) {
    const mime = mimeOf(name)
    if (mime !== '' && typeof digest === 'string') return { mime, name, source: { kind: 'file', digest } }
  }
  return undefined
}

/** Media found in a value, in order; the search of a payload with thousands is cut short. */
export function mediaIn(value: Json, most: number): Media[] {
  const found: Media[] = []
  const stack: Json[] = [value]
  for (let steps = 0; stack.length > 0 && steps < WALK_MAX && found.length < most; steps++) {
    const next = stack.pop()
    if (next === undefined || next === null) continue
    const media = typeof next === 'object' || typeof next === 'string' ? mediaOf(next) : undefined
    if (media !== undefined) found.push(media)
    else if (typeof next === 'object')
      for (const child of Object.values(next).toReversed()) if (child !== undefined) stack.push(child)
  }
  return found
}

const WALK_MAX = 5000

/** The bytes, with their type. */
export async function loadMedia(
  project_id: string,
  media: Media,
  { signal }: { signal: AbortSignal },
): Promise<Blob | undefined> {
  const { source } = media
  if (source.kind === 'url') return await (await fetch(source.url, { signal })).blob()
  if (source.kind === 'ref') {
    const ref = parseRef(source.ref)
    if (ref === undefined) return undefined
    const owner = projectId(ref)
    const body = { project_id: owner, object_id: ref.name, digest: ref.version }
    const { obj } = await askJson<{ obj: { val: Json } }>('/obj/read', { body, signal })
    const inner = mediaOf(obj.val)
    return inner === undefined || inner.source.kind === 'ref'
      ? undefined
      : await loadMedia(owner, inner, { signal })
  }
  const bytes = await readFile(project_id, source.digest, { signal })
  const told =
    source.metadata === undefined ? undefined : await readFile(project_id, source.metadata, { signal })
  const type =
    told === undefined ? media.mime : textOf(objectOf(JSON.parse(await told.text()) as Json)['mimetype'])
  return new Blob([bytes], { type })
}

/** A file of the project. */
export async function readFile(
  project_id: string,
  digest: string,
  { signal }: { signal: AbortSignal },
): Promise<Blob> {
  return await (await ask('/file/content', { body: { project_id, digest }, signal })).blob()
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
