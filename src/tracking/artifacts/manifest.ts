import { createHash } from 'node:crypto'
import { z } from 'zod'
import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { utf8Text } from '../../utf8-text.ts'
import { yielding } from '../../yielding.ts'

/** A manifest of a hundred thousand files stays below this; it is read as a whole. */
export const MANIFEST_BYTES_MAX = 64 * 1024 * 1024

/**
 * Files of one version: the largest manifest as clients write it has some 450,000, and a commit writes a row for each.
 */
const FILES_MAX = 500_000

/**
 * Characters of a reference, of its digest and of its extra members, each: a URL is shorter, and every list of files
 * has them.
 */
const REFERENCE_CHARS_MAX = 4096

/** One file that a manifest names. */
export interface ManifestEntry {
  name: string
  /** Of a reference, its digest. */
  md5: string
  /** The version that the bytes were uploaded for, where it was an earlier one. */
  birthArtifactId: string | undefined
  /** Where the bytes are, where that is not here. */
  reference: Reference | undefined
}

/** Bytes that are elsewhere: clients read them there. */
export interface Reference {
  uri: string
  size: number
  /** JSON: what the client needs to read it, such as a version. */
  extra: string | null
}

/** What a manifest says. */
export interface ReadManifest {
  entries: ManifestEntry[]
  /** Of the version with these files. */
  digest: string
}

/** Wire: the digest of an entry is the MD5 of its bytes, in base64. */
const Manifest = z.object({
  version: z.literal(1),
  contents: z.record(
    z.string(),
    z.object({
      digest: z.string(),
      size: z.int().min(0).nullish(),
      ref: z.string().nullish(),
      extra: z.record(z.string(), z.unknown()).nullish(),
      birthArtifactID: z.string().nullish(),
    }),
  ),
})

/** Reads what a client uploaded. @throws 400 for another shape, for long references and for too many files. */
export function parseManifest(bytes: Uint8Array): ReadManifest {
  const value = json(utf8Text(bytes))
  checkFileCount(value)
  const parsed = Manifest.safeParse(value)
  if (!parsed.success)
    throw invalidRequest('The manifest of the artifact does not have the shape of version 1')
  const entries = entriesOf(parsed.data)
  return { entries, digest: artifactDigest(entries) }
}

/** Before the entries are looked at, of which millions of empty ones would take half a minute. */
function checkFileCount(manifest: unknown): void {
  if (!isRecord(manifest) || !isRecord(manifest['contents'])) return
  const count = Object.keys(manifest['contents']).length
  if (count > FILES_MAX) throw invalidRequest(`A version has ${FILES_MAX} files at most, not ${count}`)
}

function entriesOf({ contents }: z.infer<typeof Manifest>): ManifestEntry[] {
  return Object.entries(contents).map(([name, entry]) => {
    return {
      name,
      md5: entry.digest,
      birthArtifactId: entry.birthArtifactID ? plainId('Artifact', entry.birthArtifactID) : undefined,
      reference: entry.ref ? referenceOf(name, { ...entry, ref: entry.ref }) : undefined,
    }
  })
}

function referenceOf(
  name: string,
  { ref, digest, size, extra }: z.infer<typeof Manifest>['contents'][string] & { ref: string },
): Reference {
  const text = extra && Object.keys(extra).length > 0 ? JSON.stringify(extra) : null
  for (const part of [ref, digest, text ?? ''])
    if (part.length > REFERENCE_CHARS_MAX)
      throw invalidRequest(
        `The reference ${name}, its digest and its extra have ${REFERENCE_CHARS_MAX} characters each at most`,
      )
  return { uri: ref, size: size ?? 0, extra: text }
}

/** The manifest as clients download it, in pieces. Wire: a new draft of the version returns its entries unchanged. */
export async function* manifestText(
  id: string,
  pages: AsyncIterable<readonly ManifestFile[]>,
): AsyncGenerator<string> {
  const birthArtifactID = globalId('Artifact', id)
  const head = {
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    storagePolicyConfig: { storageLayout: 'V2' },
  }
  let before = `${JSON.stringify(head).slice(0, -1)},"contents":{`
  for await (const files of yielding(pages)) {
    const entries = files.map((file) => `${JSON.stringify(file.name)}:${entryText(file, birthArtifactID)}`)
    yield before + entries.join(',')
    before = ','
  }
  yield before === ',' ? '}}' : `${before}}}`
}

function entryText({ md5: digest, size, reference, extra }: ManifestFile, birthArtifactID: string): string {
  if (reference == null) return JSON.stringify({ digest, size, birthArtifactID })
  const members = { digest, size, ref: reference, extra: extra == null ? {} : new JsonText(extra) }
  return stringify(members)
}

/** What a manifest says of a file. */
interface ManifestFile {
  name: string
  md5: string
  size: number
  reference?: string | null
  extra?: string | null
}

/**
 * Wire: the digest of a version is the MD5, in hexadecimal, of a header line and a line `name:digest` for each file,
 * by name.
 */
export function artifactDigest(files: readonly { name: string; md5: string }[]): string {
  const sorted = files
    .map(({ name, md5 }) => ({ name, md5, order: Buffer.from(name) }))
    .sort((a, b) => a.order.compare(b.order))
  const hash = createHash('md5').update('wandb-artifact-manifest-v1\n')
  for (const { name, md5 } of sorted) hash.update(`${name}:${md5}\n`)
  return hash.digest('hex')
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
