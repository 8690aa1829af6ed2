import { createHash } from 'node:crypto'
import { z } from 'zod'
import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import { invalidRequest } from '../../errors.ts'

/** A manifest of a hundred thousand files stays below this; it is read as a whole. */
export const MANIFEST_BYTES_MAX = 64 * 1024 * 1024

/** One file that a manifest names. */
export interface ManifestEntry {
  name: string
  md5: string
  size: number
  /** The version that the bytes were uploaded for, where it was an earlier one. */
  birthArtifactId: string | undefined
}

/** Wire: the digest of an entry is the MD5 of its bytes, in base64. */
const Manifest = z.object({
  version: z.literal(1),
  contents: z.record(
    z.string(),
    z.object({
      digest: z.string(),
      size: z.int().min(0).optional(),
      ref: z.string().nullish(),
      birthArtifactID: z.string().nullish(),
    }),
  ),
})

/** Reads what a client uploaded. @throws 400 for another shape and for references. */
export function parseManifest(text: string): ManifestEntry[] {
  const parsed = Manifest.safeParse(json(text))
  if (!parsed.success)
    throw invalidRequest('The manifest of the artifact does not have the shape of version 1')
  return Object.entries(parsed.data.contents).map(([name, entry]) => {
    if (entry.ref) {
      throw invalidRequest(`References are not supported, only files: ${name} refers to ${entry.ref}`)
    }
    return {
      name,
      md5: entry.digest,
      size: entry.size ?? 0,
      birthArtifactId: entry.birthArtifactID ? plainId('Artifact', entry.birthArtifactID) : undefined,
    }
  })
}

/** The manifest as clients download it. Wire: a new draft of the version returns its entries unchanged. */
export function writeManifest(
  id: string,
  files: readonly { name: string; md5: string; size: number }[],
): string {
  const birthArtifactID = globalId('Artifact', id)
  const contents = files.map(({ name, md5, size }) => [name, { digest: md5, size, birthArtifactID }])
  return JSON.stringify({
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    storagePolicyConfig: { storageLayout: 'V2' },
    contents: Object.fromEntries(contents),
  })
}

/**
 * Wire: the digest of a version is the MD5, in hexadecimal, of a header line and a line `name:digest` for each file,
 * by name.
 */
export function artifactDigest(files: readonly { name: string; md5: string }[]): string {
  const sorted = [...files].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
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
