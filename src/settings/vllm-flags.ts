import { z } from 'zod'

/**
 * Flags of vLLM that Heddle sets itself, mostly from settings of its own, those that would change where or whether it
 * is reached, and those that start other processes than it supervises. vLLM takes unambiguous beginnings of flags as
 * well, so these are refused too.
 */
const REFUSED = [
  // Set in engine/src/engine/serve.py.
  '--disable-uvicorn-access-log',
  '--distributed-executor-backend',
  '--dtype',
  '--enable-auto-tool-choice',
  '--enable-lora',
  '--enable-prompt-tokens-details',
  '--generation-config',
  '--gpu-memory-utilization',
  '--host',
  '--max-cpu-loras',
  '--max-lora-rank',
  '--max-loras',
  '--max-model-len',
  '--max-num-seqs',
  '--model',
  '--port',
  '--quantization',
  '--reasoning-parser',
  '--scheduling-policy',
  '--served-model-name',
  '--tensor-parallel-size',
  '--tool-call-parser',
  '--trust-request-chat-template',
  '--trust-request-mm-kwargs',
  // Where and how it is reached.
  '--allow-credentials',
  '--api-key',
  '--enable-offline-docs',
  '--grpc-port',
  '--middleware',
  '--root-path',
  '--uds',
  // They set any of the others.
  '--config',
  // More processes, or processes elsewhere.
  '--decode-context-parallel-size',
  '--device-ids',
  '--enable-scale-out',
  '--headless',
  '--nnodes',
  '--node-rank',
  '--pipeline-parallel-size',
  '--prefill-context-parallel-size',
  '--scheduler-cls',
  // Training needs the token ids and log-probabilities of the model that it trains, and the adapters that it made.
  '--chat-template',
  '--default-mm-loras',
  '--enable-sleep-mode',
  '--hf-overrides',
  '--logits-processors',
  '--logprobs-mode',
  '--lora-modules',
  '--lora-target-modules',
  '--max-logprobs',
  '--return-tokens-as-token-ids',
  '--revision',
  '--runner',
  '--skip-tokenizer-init',
  '--tokenizer',
  '--tokenizer-revision',
  '--tokens-only',
]

/** All flags that begin like this, for the same reasons. */
const REFUSED_FAMILIES = [
  '--allowed-origins',
  '--allowed-headers',
  '--allowed-methods',
  '--api-',
  '--data-parallel-',
  '--master-',
  '--ssl-',
  '--worker-',
]

/** A setting of such flags. */
export const VllmFlags = z.string().transform((text, context) => {
  const found = parseVllmFlags(text)
  if ('words' in found) return found.words
  context.addIssue({ code: 'custom', message: found.problem })
  return z.NEVER
})

/** The words of flags for vLLM as they are passed on, or what is wrong with them. A value cannot have spaces. */
export function parseVllmFlags(text: string): { words: string[] } | { problem: string } {
  const words = text.split(/\s+/).filter((word) => word !== '')
  if (words[0]?.startsWith('-') === false) return { problem: `begins with ${words[0]}, which is no flag` }
  for (const word of words.filter((word) => word.startsWith('-') && !isNumber(word))) {
    const name = nameOf(word)
    if (!/^--[a-z][\w.-]*$/.test(name)) return { problem: `write flags in full, with two dashes: ${word}` }
    const isRefused = [...REFUSED, ...REFUSED_FAMILIES].some((refused) => refused.startsWith(name))
    if (isRefused || REFUSED_FAMILIES.some((family) => name.startsWith(family)))
      return { problem: `${word} is set by Heddle, or would break it` }
  }
  return { words }
}

/** `--no_enable-lora=true` is `--enable-lora`, and `--config.a` is `--config`. */
function nameOf(word: string): string {
  const [name = ''] = word.split(/[=.]/)
  return name.replaceAll('_', '-').replace(/^--no-/, '--')
}

function isNumber(word: string): boolean {
  return Number.isFinite(Number(word))
}
