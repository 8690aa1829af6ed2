import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { readConfig } from '../../../src/config.ts'
import { BASE_QUANTIZATIONS, type BaseQuantization } from '../../../src/stores/compute/engine-settings.ts'
import { ROOT } from '../../repository.ts'
import { examples, jsonOption, wholeNumber } from '../options.ts'

/** GB of a GPU that is assumed. */
const GPU_GB = 80

/** The rank of adapters that is assumed: the default of a new model. */
const RANK = 8

/** Of GPUs and of ranks: far beyond what there is. */
const COUNT_MAX = 9999

interface Options {
  model?: string
  gpuGb: number
  gpus: number
  rank: number
  quantization?: BaseQuantization
  json?: true
}

/** What `python -m engine.fits` prints. */
const Fit = z.object({
  parameters: z.number(),
  weights_gib: z.number(),
  training_8k_gib: z.number(),
  longest_trained_tokens: z.int(),
  cached_tokens: z.int(),
})
type Fit = z.output<typeof Fit>

/** `heddle doctor gpu`: arithmetic, before anything is installed or started. */
export function addDoctorGpu(doctor: Command): void {
  doctor
    .command('gpu')
    .description(
      'Calculate what of a base model fits on GPUs, without one. docs/GPUS.md says what is counted.',
    )
    .option(
      '--model <folder>',
      'a folder with config.json, or a model as HEDDLE_BASE_MODEL names it (default: $HEDDLE_BASE_MODEL)',
    )
    .addOption(
      new Option('--gpu-gb <number>', 'memory of each GPU in GB').argParser(positive).default(GPU_GB),
    )
    .addOption(
      new Option('--gpus <number>', 'that serve or train together')
        .argParser(wholeNumber(COUNT_MAX))
        .default(1),
    )
    .addOption(
      new Option('--rank <number>', 'of the adapters').argParser(wholeNumber(COUNT_MAX)).default(RANK),
    )
    .addOption(
      new Option('--quantization <how>', 'of the base model (default: $HEDDLE_BASE_QUANTIZATION)').choices(
        BASE_QUANTIZATIONS,
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('heddle doctor gpu', 'heddle doctor gpu --model ./my-model --gpu-gb 48 --quantization nf4'),
    )
    .action(async (_: unknown, command: Command) => {
      // --json is an option of the command above as well, which would take it.
      const options = command.optsWithGlobals<Options>()
      const found = await fitOf(options)
      process.stdout.write(options.json ? `${JSON.stringify(found)}\n` : textOf(found, options))
      process.exitCode = found.longest_trained_tokens > 0 && found.cached_tokens > 0 ? 0 : 1
    })
}

/** @throws Error for a model that is not on this disk, or of a kind that is not calculated. */
async function fitOf({ model, gpuGb, gpus, rank, quantization }: Options): Promise<Fit> {
  const { baseModelFolder } = await import('../../../src/stores/compute/base-model-location.ts')
  const { engine } = readConfig()
  const isFolder = model !== undefined && existsSync(join(model, 'config.json'))
  const folder = isFolder ? resolve(model) : baseModelFolder(model ?? engine.baseModel)
  const config = join(folder, 'config.json')
  if (!existsSync(config)) throw new Error(`There is no ${config}: name a folder with --model`)
  const numbers = ['--rank', String(rank), '--gpu-gb', String(gpuGb), '--gpus', String(gpus)]
  const how = ['--config', config, '--quantization', quantization ?? engine.baseQuantization]
  const child = spawnSync('python3', ['-m', 'engine.fits', ...how, ...numbers], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONPATH: join(ROOT, 'engine/src') },
  })
  if (child.error !== undefined) throw new Error(`python3 cannot be run: ${child.error.message}`)
  if (child.status !== 0) throw new Error(child.stderr.trim())
  return Fit.parse(JSON.parse(child.stdout))
}

function textOf(found: Fit, { gpuGb, gpus }: Options): string {
  const { longest_trained_tokens: trained, cached_tokens: cached } = found
  const billions = (found.parameters / 1e9).toFixed(2)
  const lines = [
    `model   ${billions} billion parameters, ${found.weights_gib} GiB of weights`,
    `GPUs    ${gpus} of ${gpuGb} GB`,
    trained > 0
      ? `trains  a sequence of ${trained.toLocaleString('en')} tokens; 8,192 tokens take ${found.training_8k_gib} GiB of each`
      : 'trains  nothing: the weights and an adapter do not fit',
    cached > 0
      ? `serves  ${cached.toLocaleString('en')} tokens of requests at a time, on all of them`
      : 'serves  nothing: the weights do not fit',
    'Each alone on its GPUs. Calculated, not measured on a GPU: leave a margin.',
  ]
  return `${lines.join('\n')}\n`
}

function positive(text: string): number {
  if (Number(text) > 0 && Number.isFinite(Number(text))) return Number(text)
  throw new InvalidArgumentError('It is a number above 0.')
}
