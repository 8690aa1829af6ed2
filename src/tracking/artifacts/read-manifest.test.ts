import { describe, expect, it, vi } from 'vitest'
import { slicesOf } from '../../slices.ts'
import { artifactDigest, manifestText, parseManifest } from './manifest.ts'
import { readManifest } from './read-manifest.ts'

/** A manifest with as many files; one of 2,000 is read in a thread. */
async function manifestWith(count: number): Promise<Buffer> {
  const files = Array.from({ length: count }, (_, index) => ({
    name: `file ${index}`,
    md5: 'm',
    size: index,
  }))
  async function* pages() {
    for (const page of slicesOf(files, 1_000)) yield page
  }
  return Buffer.from((await Array.fromAsync(manifestText('a version', pages()))).join(''))
}

describe('readManifest', () => {
  it('reads a large manifest as a small one, and not on the thread that serves', async () => {
    const bytes = await manifestWith(2_000)
    const expected = parseManifest(bytes)
    expect(expected.entries[1_999]).toEqual({ name: 'file 1999', md5: 'm', birthArtifactId: 'a version' })
    expect(expected.digest).toBe(artifactDigest(expected.entries))
    const parse = vi.spyOn(JSON, 'parse')
    const parsedHere = (text: Buffer): boolean =>
      parse.mock.calls.some(([parsed]) => parsed === text.toString())
    expect(await readManifest(bytes, 'test')).toEqual(expected)
    expect(parsedHere(bytes)).toBe(false)
    const small = await manifestWith(2)
    await readManifest(small, 'test')
    expect(parsedHere(small)).toBe(true)
  })

  it('400 for more files than a version has', async () => {
    const entries = Array.from({ length: 500_001 }, (_, index) => `"${index}":{}`)
    const bytes = Buffer.from(`{"version":1,"contents":{${entries.join(',')}}}`)
    const refusal = { status: 400, message: 'A version has 500000 files at most, not 500001' }
    await expect(readManifest(bytes, 'test')).rejects.toMatchObject(refusal)
  })
})

describe('artifactDigest', () => {
  it('takes files by the code points of their names', () => {
    const files = ['\u{1f600}', 'b', '\uff5e', 'a'].map((name) => ({ name, md5: 'm' }))
    // What md5sum says of the header and the lines.
    expect(artifactDigest(files)).toBe('2d23af5b3d110ac1d46ef47c4b076c4f')
  })
})
