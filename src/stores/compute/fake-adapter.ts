/** Adapters for tests: real files without tensors, whose one word of metadata stands for the weights. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function writeFakeAdapter(directory: string, weights: string): void {
  mkdirSync(directory, { recursive: true })
  const header = Buffer.from(JSON.stringify({ __metadata__: { weights } }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const config = { peft_type: 'LORA', r: 8, lora_alpha: 16 }
  writeFileSync(join(directory, 'adapter_config.json'), JSON.stringify(config))
  writeFileSync(join(directory, 'adapter_model.safetensors'), Buffer.concat([length, header]))
}

export function readFakeAdapter(directory: string): string {
  const bytes = readFileSync(join(directory, 'adapter_model.safetensors'))
  const header = JSON.parse(bytes.subarray(8).toString('utf8')) as { __metadata__: { weights: string } }
  return header.__metadata__.weights
}
