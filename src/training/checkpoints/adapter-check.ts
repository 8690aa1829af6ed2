import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { ByteRange } from '../../stores/blobs/port.ts'

/** Members of PEFT's config that decide whether the engine can use an adapter. */
const AdapterConfig = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().min(1),
})

/** The header of a safetensors file: name to shape. */
const Header = z.record(z.string(), z.looseObject({ shape: z.array(z.int()).optional() }))

/** A header names some thousand tensors; a larger one is not an adapter's. */
const HEADER_BYTES_MAX = 16 * 1024 * 1024

/** Reads the bytes of a file, or those of a range that it has. */
type ReadFile = (range?: ByteRange) => Promise<Buffer>

/** An adapter's two files. */
export interface AdapterFiles {
  config: ReadFile
  weights: ReadFile
}

/**
 * Checks that an adapter made elsewhere can replace one of this model: the same weights by name, in the same shape but
 * for the rank.
 * @throws 400 that names the difference.
 */
export async function checkAdapter(
  given: AdapterFiles,
  own: AdapterFiles | undefined,
  options: { rankMax: number },
): Promise<void> {
  const config = AdapterConfig.safeParse(parsed(await given.config()))
  if (!config.success) throw invalidRequest('adapter_config.json does not describe a LoRA adapter')
  const { r } = config.data
  if (r > options.rankMax) {
    throw invalidRequest(
      `The adapter has rank ${r}, more than the ${options.rankMax} allowed here; HEDDLE_LORA_RANK_MAX raises it`,
    )
  }
  const theirs = await shapesOf(given.weights)
  // A model without a checkpoint has none to compare with.
  if (own === undefined) return
  const ours = await shapesOf(own.weights)
  for (const [name, shape] of ours) {
    const other = theirs.get(name)
    if (other === undefined) throw invalidRequest(`The adapter lacks ${name}, so it is of another base model`)
    if (other.join() !== shape.join()) {
      throw invalidRequest(`The adapter's ${name} is [${other}], not [${shape}]: it is of another base model`)
    }
  }
  const surplus = [...theirs.keys()].find((name) => !ours.has(name))
  if (surplus !== undefined) throw invalidRequest(`The adapter has ${surplus}, which this model has not`)
}

/** Shapes by name, without the dimension that is the rank. */
async function shapesOf(read: ReadFile): Promise<Map<string, number[]>> {
  const header = Header.safeParse(await headerOf(read))
  if (!header.success) throw invalidRequest('adapter_model.safetensors is not a safetensors file')
  const tensors = Object.entries(header.data).filter(([name]) => name !== '__metadata__')
  return new Map(tensors.map(([name, { shape = [] }]) => [name, withoutRank(name, shape)]))
}

/** `lora_A` is [rank, in], `lora_B` is [out, rank]. */
function withoutRank(name: string, shape: readonly number[]): number[] {
  const isA = name.includes('lora_A')
  return isA ? shape.slice(1) : shape.slice(0, 1)
}

/** A safetensors file begins with the length of its header, 8 bytes little-endian, and the header as JSON. */
async function headerOf(read: ReadFile): Promise<unknown> {
  const length = await read({ start: 0, end: 7 })
  const size = length.byteLength === 8 ? Number(length.readBigUInt64LE()) : 0
  if (size < 2 || size > HEADER_BYTES_MAX) return undefined
  return parsed(await read({ start: 8, end: 7 + size }))
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
