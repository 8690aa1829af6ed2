import { expect, it } from 'vitest'
import { tickText } from './tick-text.ts'

it.each([
  [0, 0.5, '0'],
  [1.005, 0.005, '1.005'],
  [0.275, 0.025, '0.275'],
  [-0.2, 0.2, '\u22120.2'],
  [4e-6, 1e-6, '4.0e\u22126'],
  [1200, 200, '1,200'],
  [2e6, 1e6, '2.0e6'],
  [2e303, 1e303, '2.0e303'],
])('%d by %d', (value, step, text) => expect(tickText(value, step)).toBe(text))
