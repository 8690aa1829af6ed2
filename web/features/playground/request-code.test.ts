import { expect, it } from 'vitest'
import { curlOf, pythonOf } from './request-code.ts'

const REQUEST = {
  model: 'm:step1',
  messages: [{ role: 'user', content: `It's "so"` }],
  temperature: 0.5,
  top_k: 3,
  ignore_eos: true,
}

it('writes Python with what the client knows, and the rest beside it', () => {
  const code = pythonOf('http://h', REQUEST)
  expect(code).toContain('    temperature=0.5,\n')
  expect(code).toContain('    extra_body={"top_k": 3, "ignore_eos": True},')
  expect(code).toContain(`    messages=[{"role": "user", "content": "It's \\"so\\""}],`)
})

it('writes a command that a shell reads as one text', () => {
  expect(curlOf('http://h', REQUEST)).toContain(`It'\\''s \\"so\\"`)
})
