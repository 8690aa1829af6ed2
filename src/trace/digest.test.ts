import { describe, expect, it } from 'vitest'
import { bytesDigest, jsonDigest, tableDigest } from './digest.ts'

describe('jsonDigest', () => {
  it.each([
    ['{"a":1}', 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA'],
    ['{"b":1,"a":1.0}', 'FrlqcDmb4Iisxc5QfaP3NSolLfMgU8XewTvY6giVV7A'],
    ['null', 'dCNOmKYnSYX12vHzasLXiswzlGT5UHA7jAGYkvmCuQs'],
    ['[1,2.5,-0.0,1e16,1e-7,123456789012345678901234567890]', 'vW4lC91yk1wHix06Gc1cPRzpBBSkdtvxUiXm1Jx4Vc0'],
    ['{"é":"ü😀\\u0007/\\u007f","Z":true,"\\uffff":1,"😀":2}', 'IjEwSatE7ifRSBEMELHSTk5Or9tNpyEqhUu5aUIqPqg'],
    [
      '"weave:///e/p/object/o:XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA"',
      'aOs3zvtPEeATW60scskoDBng8xStMBa2zxxOBXkJZuo',
    ],
  ])('%s', (text, digest) => {
    expect(jsonDigest(text)).toBe(digest)
  })

  it('tells 1e2 from 100 and keeps the last of duplicate keys', () => {
    expect(jsonDigest('1e2')).toBe(jsonDigest('100.0'))
    expect(jsonDigest('1e2')).not.toBe(jsonDigest('100'))
    expect(jsonDigest('{"a":0,"a":1}')).toBe(jsonDigest('{"a":1}'))
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
