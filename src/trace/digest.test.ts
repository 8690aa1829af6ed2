import { describe, expect, it } from 'vitest'
import { bytesDigest, fileDigest, jsonDigest, tableDigest } from './digest.ts'
import { digestOf } from './digest-thread.ts'
import { DIGESTS } from './test-digests.ts'

describe('jsonDigest', () => {
  it.each(DIGESTS)('%s', (text, digest) => {
    expect(jsonDigest(text)).toBe(digest)
  })

  it('distinguishes 1e2 from 100 and keeps the last of duplicate keys', () => {
    expect(jsonDigest('1e2')).toBe(jsonDigest('100.0'))
    expect(jsonDigest('1e2')).not.toBe(jsonDigest('100'))
    expect(jsonDigest('{"a":0,"a":1}')).toBe(jsonDigest('{"a":1}'))
    expect(jsonDigest('{"b":2,"a":0,"\\u0061":1}')).toBe(jsonDigest('{"a":1,"b":2}'))
  })
})

describe('bytesDigest', () => {
  it.each([
    ['', '47DEQpj8HBSaXYTImWX5JCeuQeRkm5NMpJWZG3hSuFU'],
    ['hello', 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ'],
  ])('%j', (bytes, digest) => {
    expect(bytesDigest(bytes)).toBe(digest)
  })
})

describe('tableDigest', () => {
  it('hashes row digests in order', () => {
    const rows = ['{"a":1}', '{"a":"x","b":[1]}'].map(jsonDigest)
    expect(tableDigest(rows)).toBe('961c194fcfd17df71f481d7deb215448f174de9d9f561f44acbb0d0b7498b986')
  })
})

describe('digestOf', () => {
  it('is the same for large values, which are digested in another thread, and refuses the same values', async () => {
    const large = (member: string) => `{"b":[${'1,1.50,'.repeat(200_000)}"é"],"a":${member}}`
    expect(await digestOf(large('{"\\u0062":2,"a":1}'))).toBe(jsonDigest(large('{"a":1,"b":2}')))
    const [internal, after] = await Promise.allSettled([
      digestOf(large('"weave-trace-internal:///p/object/o:1"')),
      digestOf(large('1')),
    ])
    expect(internal).toMatchObject({ reason: { status: 400, message: 'Unexpected internal ref format' } })
    expect(after).toMatchObject({ value: jsonDigest(large('1')) })
  })
})

describe('fileDigest', () => {
  it('is the digest of the bytes, and lets others work meanwhile', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 5, 'loom')
    let hasWorked = false
    setImmediate(() => {
      hasWorked = true
    })
    expect(await fileDigest(bytes)).toBe(bytesDigest(bytes))
    expect(hasWorked).toBe(true)
    for (const small of ['', 'a']) expect(await fileDigest(Buffer.from(small))).toBe(bytesDigest(small))
  })
})
