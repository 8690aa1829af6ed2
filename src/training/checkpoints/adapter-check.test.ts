import { describe, expect, it } from 'vitest'
import { type AdapterFiles, checkAdapter } from './adapter-check.ts'

/** An adapter with this header, and the ranges of its weights that are read. */
function adapter(header: object): AdapterFiles & { reads: object[] } {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  const weights = Buffer.concat([length, text])
  const reads: object[] = []
  return {
    reads,
    config: async () => Buffer.from('{"peft_type":"LORA","r":8}'),
    weights: async ({ start, end = weights.length - 1 } = { start: 0 }) => {
      reads.push({ start, end })
      return weights.subarray(start, end + 1)
    },
  }
}

const tensors = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}.lora_A.weight`, { shape: [8, 4] }]))

describe('the header of an adapter', () => {
  it('may say more about the program that wrote it, but not name as much as would take seconds to read', async () => {
    const own = adapter(tensors(100))
    const same = adapter({ __metadata__: { format: 'pt', written_by: 'x'.repeat(10_000) }, ...tensors(100) })
    await checkAdapter(same, own, { rankMax: 16 })
    const huge = adapter(tensors(10_000))
    await expect(checkAdapter(huge, own, { rankMax: 16 })).rejects.toThrow('has a header of')
    expect(huge.reads).toEqual([{ start: 0, end: 7 }])
    const alone = adapter(tensors(100_000))
    await expect(checkAdapter(alone, undefined, { rankMax: 16 })).rejects.toThrow('has a header of')
  })
})
