import { expect, it } from 'vitest'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { jsonDigest } from './digest.ts'
import { checkDigestible } from './digestible.ts'

function refusalOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return String(error)
  }
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

it.each([
  '"weave:///a/b/object/c:d"',
  '["x", "weave:///a"]',
  '{"a":"weave:///a"}',
  '{"weave:///a" :1}',
  '{"weave-trace-internal:///a":[{}]}',
  '{"a":"weave-trace-internal:///a/b"}',
  String.raw`["\u0077eave:///a"]`,
  String.raw`["we\u0061ve:\/\/\/a"]`,
  String.raw`["weave\":///a", "\\", "weave:///a"]`,
  String.raw`["\\\"weave:///a", "[[[\\"]`,
  '["敏捷的", "woven", "", "we"]',
  nested(JSON_DEPTH_MAX),
  nested(JSON_DEPTH_MAX + 1),
  `[${nested(3)},${nested(JSON_DEPTH_MAX - 1)}]`,
  `["${nested(JSON_DEPTH_MAX + 1)}"]`,
])('refuses what no digest can be made of, and nothing else: %.60s', (text) => {
  expect(refusalOf(() => checkDigestible(text))).toBe(refusalOf(() => jsonDigest(text)))
})
