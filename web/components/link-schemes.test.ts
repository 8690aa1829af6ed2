import { expect, it } from 'vitest'
import { leadsToPage } from './link-schemes.ts'

it.each(['https://a.b/c', 'http://a', 'mailto:a@b', '/calls/x', '#part', 'x y'])(
  '%s may be followed',
  (href) => {
    expect(leadsToPage(href)).toBe(true)
  },
)

it.each([
  'javascript:alert(1)',
  ' JavaScript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:http://a/b',
  'http://[',
])('%s stays text', (href) => {
  expect(leadsToPage(href)).toBe(false)
})
