import { describe, expect, it } from 'vitest'
import { PIXEL } from '../../inference/playground/fake-provider.ts'
import { type MediaKind, mediaParts } from './judge-media.ts'

const WAV = Buffer.from('RIFF').toString('base64')
const FILES: Record<string, string> = {
  png: Buffer.from(PIXEL, 'base64').toString('base64'),
  wav: WAV,
  type: Buffer.from('{"mimetype":"video/mp4"}').toString('base64'),
  film: WAV,
}
const files = {
  read: async ({ digest }: { digest: string }) =>
    FILES[digest] === undefined ? undefined : Buffer.from(FILES[digest], 'base64'),
}
const ALL: ReadonlySet<MediaKind> = new Set(['image', 'audio', 'video'])

function parts(
  inputs: Record<string, unknown>,
  kinds = ALL,
  paths: readonly string[] = [],
  output: unknown = null,
) {
  return mediaParts(files, { inputs, output }, { kinds, paths, project_id: 'a/b' })
}

const stored = (names: Record<string, string>) => ({ _type: 'CustomWeaveType', weave_type: {}, files: names })
const url = `data:image/png;base64,${PIXEL}`
const image = { type: 'image_url', image_url: { url } }
const audio = { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }
const video = { type: 'video_url', video_url: { url: `data:video/mp4;base64,${WAV}` } }

describe('the media that a judge is shown', () => {
  it('are those in the inputs, in any form that clients store', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'see' }, image, audio] }]
    expect(await parts({ messages })).toEqual([image, audio])
    expect(await parts({ a: url, b: `data:audio/x-wav;base64,${WAV}` })).toEqual([image, audio])
    expect(await parts({ a: stored({ 'image.png': 'png' }), b: stored({ 'audio.wav': 'wav' }) })).toEqual([
      image,
      audio,
    ])
    expect(await parts({ film: stored({ content: 'film', 'metadata.json': 'type' }) })).toEqual([video])
    expect(await parts({ text: 'data:text/plain;base64,eA==', number: 1 })).toEqual([])
  })

  it('are of the kinds that it is to see, at the paths that it names', async () => {
    const inputs = { a: { list: [{ x: url }, { x: 'none' }] }, b: audio }
    expect(await parts(inputs, new Set(['audio']))).toEqual([audio])
    expect(await parts(inputs, ALL, ['$.a.list[0].x'])).toEqual([image])
    expect(await parts(inputs, ALL, ["a['list'][*].x", 'inputs.b'])).toEqual([image, audio])
    expect(await parts({}, ALL, ['output'], { picture: url })).toEqual([image])
    expect(await parts(inputs, ALL, ['$.nowhere'])).toEqual([])
    await expect(parts(inputs, ALL, ['$..x'])).rejects.toThrow('Not a JSON path')
  })

  it('are refused where they are too many, or not there', async () => {
    await expect(parts({ all: Array(33).fill(url) })).rejects.toThrow('32 media')
    await expect(parts({ a: stored({ 'image.png': 'gone' }) })).rejects.toThrow('gone is not here')
    const many = { a: Array.from({ length: 90_000 }, () => 0) }
    expect(await parts(many, ALL, ['inputs.a[*]'])).toEqual([])
    await expect(parts(many, ALL, Array(32).fill('inputs.a[*]'))).rejects.toThrow('too much to search')
    await expect(parts(many, ALL, [`$${'.a'.repeat(200_000)}`])).rejects.toThrow('at most 100 steps')
  })
})
