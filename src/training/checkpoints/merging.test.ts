import { expect, it } from 'vitest'
import { spent } from '../../errors.ts'
import { NO_CALLER_LIMITS } from '../../http/caller-limits.ts'
import { createMerging } from './merging.ts'

it('asks for the room of the entity before it merges, and not for a model that is merged already', async () => {
  let merged: object | null = null
  const asked: string[] = []
  const merging = createMerging({
    baseModels: { assertAvailable() {} } as never,
    files: {} as never,
    checkpoints: {
      withMerged: async () => ({ checkpoint: { id: 'id', step: 1 }, merged }),
      read: async () => ({ step: 1 }),
    } as never,
  })
  const limits = {
    ...NO_CALLER_LIMITS.open({ keyId: 'key' }),
    stores(entity: string): void {
      asked.push(entity)
      throw spent('full', 600)
    },
  }
  const merge = () => merging.merge({ entity: 'team' } as never, '1', { limits } as never)
  await expect(merge()).rejects.toMatchObject({ status: 402 })
  merged = {}
  expect(await merge()).toEqual({ step: 1 })
  expect(asked).toEqual(['team'])
})
