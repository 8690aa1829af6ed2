import { z } from 'zod'

/** A list of GPUs, as `nvidia-smi` numbers them. */
export const Gpus = z
  .string()
  .transform((text) => text.split(',').map((number) => number.trim()))
  .pipe(z.array(z.string().regex(/^\d{1,3}$/, { error: 'numbers of GPUs, separated by commas' })))
  .transform((numbers) => numbers.map(Number))
  .refine((numbers) => new Set(numbers).size === numbers.length, { error: 'names a GPU twice' })

/**
 * What is wrong with GPUs for serving and for training together. Memory is shared out for each set, so the two are one
 * or have nothing in common.
 */
export function problemOfGpus(serving: number[], training: number[]): string | undefined {
  if ((serving.length === 0) !== (training.length === 0))
    return 'HEDDLE_GPUS_SERVING and HEDDLE_GPUS_TRAINING are set together'
  const both = training.filter((gpu) => serving.includes(gpu))
  if (both.length > 0 && (both.length < training.length || both.length < serving.length))
    return 'has some GPUs of HEDDLE_GPUS_SERVING: name the same ones, or none of them'
  return undefined
}
