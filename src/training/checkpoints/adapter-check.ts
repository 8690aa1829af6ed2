import { open, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'

/** Of the PEFT files, what decides whether the engine can use them. */
const AdapterConfig = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().min(1),
})

/** The header of a safetensors file: name to shape. */
const Header = z.record(z.string(), z.looseObject({ shape: z.array(z.int()).optional() }))

/** A header names some thousand tensors; more is no adapter. */
const HEADER_BYTES_MAX = 16 * 1024 * 1024

/** Paths of an adapter's two files. */
export interface AdapterPaths {
  config: string
  weights: string
}

/**
 * Whether an adapter that was made elsewhere can take the place of one of this model: the same weights by name, in the
 * same shape but for the rank.
 * @throws 400 that says what differs.
 */
export async function checkAdapter(
  given: AdapterPaths,
  own: AdapterPaths | undefined,
  options: { rankMax: number },
): Promise<void> {
  const config = AdapterConfig.safeParse(await readJson(given.config))
  if (!config.success) throw invalidRequest('adapter_config.json does not describe a LoRA adapter')
  const { r } = config.data
  if (r > options.rankMax) {
    throw invalidRequest(
      `The adapter has rank ${r}, more than the ${options.rankMax} allowed here; HEDDLE_LORA_RANK_MAX raises it`,
    )
  }
  const theirs = await shapesOf(given.weights)
  // A model without a checkpoint has nothing to compare with.
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
async function shapesOf(path: string): Promise<Map<string, number[]>> {
  const header = Header.safeParse(await headerOf(path))
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
async function headerOf(path: string): Promise<unknown> {
  await using file = await open(path)
  const length = await file.read(Buffer.alloc(8), 0, 8, 0)
  const size = length.bytesRead === 8 ? Number(length.buffer.readBigUInt64LE()) : 0
  if (size < 2 || size > HEADER_BYTES_MAX) return undefined
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 8)
  return parsed(buffer.subarray(0, bytesRead).toString('utf8'))
}

async function readJson(path: string): Promise<unknown> {
  return parsed(await readFile(path, 'utf8'))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
