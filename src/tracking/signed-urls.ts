import { timingSafeEqual } from 'node:crypto'
import { notAllowed } from '../errors.ts'
import { type CallContext, originOf } from '../http/caller.ts'
import type { SecretKey } from '../stores/secret-key.ts'

/** Clients request thousands of URLs at once, and may use the last of them hours later. */
const URL_SECONDS = 6 * 3600

/** The right that a URL grants without a key. */
export interface Grant {
  method: 'GET' | 'PUT'
  /** Which route under `/storage/`. */
  kind: 'artifact-files' | 'artifact-manifests' | 'run-files'
  id: string
  /** The file's name; empty where the id is enough. */
  name: string
}

/** The right as part of the URL. */
export interface Signature {
  expires: number
  signature: string
}

/** URLs for uploads and downloads. Wire: W&B clients send no key with them. */
export interface SignedUrls {
  /** An absolute URL at the host that the client addressed. */
  make(grant: Grant, context: CallContext): Promise<string>
  /** @throws 403 unless the signature is valid for exactly this right and has not expired. */
  check(grant: Grant, shown: Signature): Promise<void>
}

export function createSignedUrls({ secretKey }: { secretKey: SecretKey }): SignedUrls {
  function sign(grant: Grant, expires: number): Buffer {
    const text = JSON.stringify([grant.method, grant.kind, grant.id, grant.name, expires])
    return Buffer.from(secretKey.hash('signed-urls', text), 'hex')
  }

  async function make(grant: Grant, context: CallContext): Promise<string> {
    const expires = Math.floor(Date.now() / 1000) + URL_SECONDS
    const signature = sign(grant, expires).toString('base64url')
    const query = new URLSearchParams({
      ...(grant.name !== '' && { name: grant.name }),
      expires: String(expires),
      signature,
    })
    return `${originOf(context)}/storage/${grant.kind}/${grant.id}?${query}`
  }

  async function check(grant: Grant, shown: Signature): Promise<void> {
    const expected = sign(grant, shown.expires)
    const given = Buffer.from(shown.signature, 'base64url')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw notAllowed('The signature of this URL is not valid')
    }
    if (shown.expires * 1000 < Date.now()) throw notAllowed('This URL has expired; ask for a new one')
  }

  return { make, check }
}
