import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parseFormData } from './form-data.ts'

const parse = (text: string) => parseFormData(Buffer.from(text), 'X')

const FILES = [
  'a.bin',
  'a/b.txt',
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
    expect(await parseFormData(Buffer.from(await sent.arrayBuffer()), boundary)).toEqual([
      ['project_id', 'team/app'],
      ['text', 'zwei\r\nZeilen €'],
      ['empty', ''],
      [
        'file',
        { name: expect.stringContaining(name), type: 'image/png', bytes: Buffer.from(`\r\n--${name}\0\r\n`) },
      ],
    ])
  })

  it.each([
    ['form-data; name="f"; filename="a\\"b"', 'a"b'],
    ["form-data; name=f; filename*=utf-8''zw%C3%B6lf", 'zwölf'],
    ['form-data; filename=plain; name="f"; filename*=utf-8\'\'better', 'better'],
    ['form-data; filename=plain; name="f"', 'plain'],
    ['FORM-DATA; NAME="f"; FILENAME=""', ''],
  ])('reads names as other clients write them: %s', async (disposition, name) => {
    const form = `\r\n--X\r\nContent-Type: text/x\r\nContent-Disposition: ${disposition}\r\n\r\nhello\r\n--X--`
    expect(await parse(form)).toEqual([['f', { name, type: 'text/x', bytes: Buffer.from('hello') }]])
  })

  it('cuts at a delimiter that begins a line, and not within one', async () => {
    const field = 'content-disposition: form-data; name="a"\r\n\r\na--X and \n--X\r\n-X'
    expect(await parse(`--X\r\n${field}\r\n--X--\r\n`)).toEqual([['a', 'a--X and \n--X\r\n-X']])
  })

  it.each(['', '--X', '--Y\r\n\r\n--Y--', '--X\r\ncontent-disposition: form-data; name="a"\r\n\r\nno end'])(
    'refuses %j',
    async (text) => {
      await expect(parse(text)).rejects.toThrow('Unexpected end')
    },
  )

  it('has no fields for a form without any', async () => {
    expect(await parse('--X--\r\n')).toEqual([])
  })

  it('lets others work while it reads a large file', async () => {
    const head = '--X\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n'
    const content = Buffer.alloc(3 * 1024 * 1024 + 5, 'loom\r\n--')
    const bytes = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--X--\r\n')])
    let isRead = false
    let turns = 0
    const reading = parseFormData(bytes, 'X').finally(() => (isRead = true))
    while (!isRead) {
      turns++
      await setImmediate()
    }
    const [[, file] = []] = await reading
    expect(typeof file === 'object' && content.equals(file.bytes)).toBe(true)
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})
