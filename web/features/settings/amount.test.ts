import { describe, expect, it } from 'vitest'
import { amountIn } from './amount.ts'

describe('amountIn', () => {
  it.each([
    ['1000', 1000],
    ['1,000', 1000],
    ['1,234,567.25', 1_234_567.25],
    [' 1.50 ', 1.5],
    ['.5', 0.5],
    ['0.125', 0.125],
    ['2.0625', 2.0625],
    ['1,234.567', 1_234.567],
  ])('reads commas between thousands: %s', (text, amount) => {
    expect(amountIn(text)).toBe(amount)
  })

  it.each([
    '',
    '1,50',
    '1,5',
    '1234,567',
    '1,000,00',
    ',5',
    '1.',
    '1e3',
    '-1',
    'many',
    '1.000,50',
    '10.000',
    '500.000',
  ])('reads nothing else: %s', (text) => {
    expect(amountIn(text)).toBeUndefined()
  })
})
