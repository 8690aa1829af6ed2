import { expect, it } from 'vitest'
import { curlOf, pythonOf } from './request-code.ts'

const project = { entity: 'ada', project: "o'hara ü" }

const request = {
  model: 'm:step1',
  messages: [{ role: 'user', content: `It's "so"` }],
  temperature: 0.5,
  top_k: 3,
  ignore_eos: true,
}

it('writes Python with what the client knows, and the rest beside it', () => {
  const code = pythonOf('http://h', { request, project })
  expect(code).toContain('    temperature=0.5,\n')
  expect(code).toContain('    extra_body={"top_k": 3, "ignore_eos": True},')
  expect(code).toContain(`    messages=[{"role": "user", "content": "It's \\"so\\""}],`)
})

it('writes a command that a shell reads as one text', () => {
  expect(curlOf('http://h', { request, project })).toContain(`It'\\''s \\"so\\"`)
})

it('names the project that the request counts for', () => {
  expect(curlOf('http://h', { request, project })).toContain(
    `-H 'openai-project: ada/o'\\''hara%20%C3%BC' \\\n`,
  )
  expect(pythonOf('http://h', { request, project })).toContain(`    project="ada/o'hara%20%C3%BC",\n`)
})
