import { describe, expect, it } from 'vitest'
import { parseFormData } from './form-data.ts'

const parse = (text: string, boundary = 'X') => parseFormData(Buffer.from(text), boundary)

const FILES = [
  'a.bin',
  'with space.txt',
  'quote".txt',
  'back\\slash',
  'zwölf €.png',
  "it's",
  'semi;colon=1',
  'new\nline',
]

describe('parseFormData', () => {
  it.each(FILES)('reads what clients of the web write: a file of the name %j', async (name) => {
    const form = new FormData()
    form.set('project_id', 'team/app')
    form.set('text', 'zwei\r\nZeilen €')
    form.set('empty', '')
    form.set('file', new Blob([`\r\n--${name}\0\r\n`], { type: 'image/png' }), name)
    const sent = new Response(form)
    const boundary = /boundary=(.*)$/.exec(sent.headers.get('content-type') ?? '')?.[1] ?? ''
    const fields = parseFormData(Buffer.from(await sent.arrayBuffer()), boundary)
    // Line ends are normalised by the client.
    const sentName = name.replace('\n', '\r\n')
    expect(fields?.map(([field, value]) => [field, typeof value === 'string' ? value : value.name])).toEqual([
      ['project_id', 'team/app'],
      ['text', 'zwei\r\nZeilen €'],
      ['empty', ''],
      ['file', name === 'new\nline' ? expect.stringMatching(/^new\r?\nline$/) : sentName],
    ])
    expect(fields?.[3]?.[1]).toMatchObject({ type: 'image/png', bytes: Buffer.from(`\r\n--${name}\0\r\n`) })
  })

  it('copies no file', () => {
    const bytes = Buffer.from(
      '--X\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nhello\r\n--X--\r\n',
    )
    const [[, file] = []] = parseFormData(bytes, 'X') ?? []
    expect(file).toMatchObject({ bytes: Buffer.from('hello') })
    expect(typeof file === 'object' && file.bytes.buffer).toBe(bytes.buffer)
  })

  it.each([
    ['form-data; name="f"; filename="a\\"b"', 'a"b'],
    ["form-data; name=f; filename*=utf-8''zw%C3%B6lf", 'zwölf'],
    ['form-data; filename=plain; name="f"; filename*=utf-8\'\'better', 'better'],
    ['form-data; filename=plain; name="f"', 'plain'],
    ['FORM-DATA; NAME="f"; FILENAME=""', ''],
  ])('reads names as other clients write them: %s', (disposition, name) => {
    const form = `\r\n--X\r\nContent-Type: text/x\r\nContent-Disposition: ${disposition}\r\n\r\nhello\r\n--X--`
    expect(parse(form)).toEqual([['f', { name, type: 'text/x', bytes: Buffer.from('hello') }]])
  })

  it('cuts at a delimiter that begins a line, and not within one', () => {
    const field = 'content-disposition: form-data; name="a"\r\n\r\n--X and \n--X\r\n-X'
    expect(parse(`--X\r\n${field}\r\n--X--\r\n`)).toEqual([['a', '--X and \n--X\r\n-X']])
  })

  it.each([
    '',
    '--X',
    '--X\r\n',
    '--Y\r\n\r\n--Y--',
    'before --X\r\n\r\n--X--',
    '--X\r\ncontent-disposition: form-data; name="a"\r\n\r\nno end',
    '--X\r\ncontent-disposition: form-data; name="a"\r\n--X--',
    '--X\r\ncontent-disposition: attachment; name="a"\r\n\r\n1\r\n--X--',
    '--X\r\ncontent-disposition: form-data; filename="a"\r\n\r\n1\r\n--X--',
    '--X\r\n\r\n1\r\n--X--',
    '--X\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--X!',
  ])('is nothing for %j', (text) => {
    expect(parse(text)).toBeUndefined()
  })

  it('has no fields for a form without any', () => {
    expect(parse('--X--\r\n')).toEqual([])
  })
})
