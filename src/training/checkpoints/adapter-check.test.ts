import { describe, expect, it } from 'vitest'
import { type AdapterFiles, checkAdapter } from './adapter-check.ts'

/** An adapter of a rank with this header and no weights, and the ranges of the file that are read. */
function adapter(header: object, config: object = {}): AdapterFiles & { reads: object[] } {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  const weights = Buffer.concat([length, text])
  const reads: object[] = []
  return {
    reads,
    size: weights.length,
    config: async () => Buffer.from(JSON.stringify({ peft_type: 'LORA', r: 8, lora_alpha: 16, ...config })),
    weights: async ({ start, end = weights.length - 1 } = { start: 0 }) => {
      reads.push({ start, end })
      return weights.subarray(start, end + 1)
    },
  }
}

const ofShape = (...shape: number[]) => ({ dtype: 'F32', shape, data_offsets: [0, 0] })

const tensors = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}.lora_A.weight`, ofShape(8, 4)]))

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

describe('the tensors of an adapter', () => {
  const check = (given: AdapterFiles) => checkAdapter(given, undefined, { rankMax: 16 })

  it('have the rank that the config says, for all layers or for some', async () => {
    const layer = (name: string, rank: number) => ({
      [`base_model.model.model.layers.${name}.lora_A.weight`]: ofShape(rank, 64),
      [`base_model.model.model.layers.${name}.lora_B.weight`]: ofShape(32, rank),
    })
    const both = { ...layer('0.self_attn.q_proj', 8), ...layer('1.self_attn.q_proj', 4) }
    await expect(check(adapter(both))).rejects.toThrow('1.self_attn.q_proj.lora_A.weight has rank 4')
    for (const name of ['1.self_attn.q_proj', '^model.layers.1.self_attn.q_proj$'])
      await check(adapter(both, { rank_pattern: { [name]: 4 } }))
    for (const name of ['q_proj', 'proj', '^layers.1.self_attn.q_proj'])
      await expect(check(adapter(both, { rank_pattern: { [name]: 4 } }))).rejects.toThrow('has rank')
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`layers.${n}.q_proj`, 8]))
    await expect(check(adapter(tensors(1000), { rank_pattern: many }))).rejects.toThrow(
      'too many names: 2000',
    )
  })

  it('are all in the file', async () => {
    const cut = adapter({ 'q.lora_A.weight': { ...ofShape(8, 4), data_offsets: [0, 128] } })
    await expect(check(cut)).rejects.toThrow(
      'has 0 bytes after its header, which names 128: it is incomplete',
    )
    await check({ ...cut, size: cut.size + 128 })
  })
})
