import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { ByteRange } from '../../stores/blobs/port.ts'

/**
 * Wire: the engine takes keys of patterns for regular expressions, of which some would keep it from all other requests.
 */
const LayerName = z.string().regex(/^\^?[\w.]+\$?$/)

/** Members of PEFT's config that decide whether the engine can use an adapter. */
const AdapterConfig = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().min(1),
  lora_alpha: z.number(),
  rank_pattern: z.record(LayerName, z.int().min(1)).nullish(),
  alpha_pattern: z.record(LayerName, z.number()).nullish(),
})

/** Wire: what the engine does not calculate, by members that are set then. */
const UNSUPPORTED = [
  'use_dora',
  'lora_bias',
  'layer_replication',
  'alora_invocation_tokens',
  'use_bdlora',
  'use_qalora',
  'modules_to_save',
]

/** Ways to begin with an adapter that leave the base model as it is; others, such as PiSSA, take a part out of it. */
const INITIAL_WEIGHTS = ['gaussian', 'eva', 'orthogonal', 'mica', 'lora_ga']

/** A tensor in the header of a safetensors file: its dimensions, and its first and last byte after the header. */
const Tensor = z.looseObject({ shape: z.array(z.int()), data_offsets: z.tuple([z.int(), z.int()]) })
type Tensors = Map<string, z.output<typeof Tensor>>

/** The header of a safetensors file, without what its writer says of it. */
const Header = z
  .looseObject({ __metadata__: z.unknown().optional() })
  .transform(({ __metadata__, ...tensors }) => tensors)
  .pipe(z.record(z.string(), Tensor))

/** Of the largest models with an adapter at each layer it has 300 kB. */
const HEADER_BYTES_MAX = 1024 * 1024

/**
 * How much longer than the model's own the header of another adapter may be, which has the same tensors: numbers have
 * more digits, and other programs write a few words about themselves. A header is read while other requests wait, the
 * longest for 0.3 s.
 */
const HEADER_LONGER_MAX = 1.5
const METADATA_BYTES_MAX = 16 * 1024

/** Reads the bytes of a file, or those of a range that it has. */
type ReadFile = (range?: ByteRange) => Promise<Buffer>

/** An adapter's two files. */
export interface AdapterFiles {
  config: ReadFile
  weights: ReadFile
  /** Bytes of the weights. */
  size: number
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
  const ranks = Object.values(config.data.rank_pattern ?? {})
  const rank = ranks.reduce((highest, one) => Math.max(highest, one), config.data.r)
  if (rank > options.rankMax) {
    throw invalidRequest(
      `The adapter has rank ${rank}, more than the ${options.rankMax} allowed here; HEDDLE_LORA_RANK_MAX raises it`,
    )
  }
  const unsupported = unsupportedIn(config.data)
  if (unsupported !== undefined)
    throw invalidRequest(
      `The engine does not calculate an adapter with ${unsupported}: convert it to a plain LoRA adapter`,
    )
  const known = own && (await tensorsOf(own.weights, HEADER_BYTES_MAX))
  const bytesMax =
    known === undefined ? HEADER_BYTES_MAX : known.bytes * HEADER_LONGER_MAX + METADATA_BYTES_MAX
  const { tensors: theirs, bytes } = await tensorsOf(given.weights, bytesMax)
  checkSize(theirs, given.size - bytes)
  checkRanks(theirs, config.data)
  // A model without a checkpoint has none to compare with.
  if (known !== undefined) checkShapes(theirs, known.tensors)
}

/** @throws 400 unless the tensors end where the file does. */
function checkSize(tensors: Tensors, size: number): void {
  const end = [...tensors.values()].reduce((last, { data_offsets }) => Math.max(last, data_offsets[1]), 0)
  if (end !== size)
    throw invalidRequest(
      `adapter_model.safetensors has ${size} bytes after its header, which names ${end}: it is incomplete`,
    )
}

/** Names of layers that are compared with patterns while other requests wait; a tenth of a second. */
const MATCHES_MAX = 1_000_000

/** @throws 400 for a tensor that has not the rank that the config says, which the trainer refuses to load. */
function checkRanks(tensors: Tensors, { r, rank_pattern }: z.output<typeof AdapterConfig>): void {
  const names = Object.keys(rank_pattern ?? {}).length
  if (names * tensors.size > MATCHES_MAX)
    throw invalidRequest(`rank_pattern of adapter_config.json has too many names: ${names}`)
  // As PEFT looks them up: the first one that is the end of the layer's name.
  const patterns = Object.entries(rank_pattern ?? {}).map(
    ([name, rank]) => [new RegExp(`^(?:.*\\.)?(?:${name})$`), rank] as const,
  )
  for (const [name, { shape }] of tensors) {
    const [, layer, side] = /^(?:base_model\.model\.)?(.*)\.lora_([AB])\.weight$/.exec(name) ?? []
    if (layer === undefined) continue
    const wanted = patterns.find(([pattern]) => pattern.test(layer))?.[1] ?? r
    const rank = shape[side === 'A' ? 0 : 1]
    if (rank !== wanted)
      throw invalidRequest(`The adapter's ${name} has rank ${rank}, and its config says ${wanted}`)
  }
}

/** @throws 400 unless both have the same tensors, in the same shape but for the rank. */
function checkShapes(theirs: Tensors, ours: Tensors): void {
  for (const [name, { shape }] of ours) {
    const other = theirs.get(name)
    if (other === undefined) throw invalidRequest(`The adapter lacks ${name}, so it is of another base model`)
    const [is, wanted] = [withoutRank(name, other.shape), withoutRank(name, shape)]
    if (is.join() !== wanted.join())
      throw invalidRequest(`The adapter's ${name} is [${is}], not [${wanted}]: it is of another base model`)
  }
  const surplus = [...theirs.keys()].find((name) => !ours.has(name))
  if (surplus !== undefined) throw invalidRequest(`The adapter has ${surplus}, which this model has not`)
}

/** What of a config the engine does not calculate. */
function unsupportedIn(config: z.output<typeof AdapterConfig>): string | undefined {
  const { bias, init_lora_weights: initial } = config
  if (bias != null && bias !== 'none') return `bias ${JSON.stringify(bias)}`
  if (typeof initial === 'string' && !INITIAL_WEIGHTS.includes(initial.toLowerCase()))
    return `init_lora_weights ${JSON.stringify(initial)}`
  return UNSUPPORTED.find((name) => isSet(config[name]))
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Tensors by name, and the bytes of what names them. */
async function tensorsOf(read: ReadFile, bytesMax: number): Promise<{ tensors: Tensors; bytes: number }> {
  const { value, bytes } = await headerOf(read, bytesMax)
  const header = Header.safeParse(value)
  if (!header.success) throw invalidRequest('adapter_model.safetensors is not a safetensors file')
  return { tensors: new Map(Object.entries(header.data)), bytes: LENGTH_BYTES + bytes }
}

const LENGTH_BYTES = 8

/** `lora_A` is [rank, in], `lora_B` is [out, rank]. */
function withoutRank(name: string, shape: readonly number[]): number[] {
  const isA = name.includes('lora_A')
  return isA ? shape.slice(1) : shape.slice(0, 1)
}

/** A safetensors file begins with the length of its header, little-endian, and the header as JSON. */
async function headerOf(read: ReadFile, bytesMax: number): Promise<{ value: unknown; bytes: number }> {
  const length = await read({ start: 0, end: LENGTH_BYTES - 1 })
  const bytes = length.byteLength === LENGTH_BYTES ? Number(length.readBigUInt64LE()) : 0
  if (bytes > bytesMax)
    throw invalidRequest(
      `adapter_model.safetensors has a header of ${bytes} bytes, and one of this model has ${Math.floor(bytesMax)} at most`,
    )
  return {
    value: bytes < 2 ? undefined : parsed(await read({ start: LENGTH_BYTES, end: LENGTH_BYTES + bytes - 1 })),
    bytes,
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
