import { describe, expect, it } from 'vitest'
import { exceptionText, framesText } from './exception-text.ts'

/** As weave 0.54 sends it. */
const FRAMES = JSON.stringify({
  type: 'KeyError',
  message: "'price'",
  traceback: [
    { filename: '/app/shop.py', line_number: 12, function_name: '<module>', text: 'main()' },
    { filename: '/app/shop.py', line_number: null, function_name: 'main', text: null },
  ],
})

describe('an exception', () => {
  it('that came with frames has each of them', () => {
    const { line, frames, rest } = exceptionText(FRAMES)
    expect(line).toBe("KeyError: 'price'")
    expect(rest).toBe('')
    expect(frames).toEqual([
      { file: '/app/shop.py', line: 12, name: '<module>', code: 'main()' },
      { file: '/app/shop.py', line: undefined, name: 'main', code: '' },
    ])
    expect(framesText(frames)).toBe(
      'Traceback (most recent call last):\n  File "/app/shop.py", line 12, in <module>\n    main()\n  File "/app/shop.py", in main',
    )
  })

  it('that came with a traceback as text, or as plain text, keeps the text', () => {
    const whole = JSON.stringify({ type: 'ValueError', message: 'no', traceback: 'File "a.py"' })
    expect(exceptionText(whole)).toEqual({ line: 'ValueError: no', rest: 'File "a.py"', frames: [] })
    expect(exceptionText('TypeError: x\n  at f (a.js:1:2)')).toEqual({
      line: 'TypeError: x',
      rest: '  at f (a.js:1:2)',
      frames: [],
    })
  })

  it('whose traceback is not what clients send is still shown', () => {
    const odd = JSON.stringify({ type: 'E', message: 'm', traceback: [1, null, { filename: 2 }] })
    expect(exceptionText(odd).frames).toHaveLength(3)
    expect(exceptionText('{broken')).toEqual({ line: '{broken', rest: '', frames: [] })
  })
})
