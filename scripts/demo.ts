/**
 * `npm run demo`: sets everything up, starts Heddle, trains the tiny model through its API with the real clients, and
 * keeps serving. `npm run demo -- --help` lists the options.
 */
import { runDemo } from './run-demo.ts'

const HELP = `Usage: npm run demo -- [--exit] [--task sums|preference] [--steps N] [--seed N] [--base-model ID] [--port N]

Trains a small chat model by reinforcement learning through Heddle's own API, with openpipe-art, openai and weave.
  --exit        end when training is done: status 0 if the held-out reward rose, 1 if not
  --task        sums (verifiable, the default) or preference
  --steps       training steps (default 15)
  --seed        seed of the questions (default 0)
  --base-model  an id of engine/models, a local folder or a Hugging Face id (default heddle/loom-tiny)
  --port        port to serve on (default 6060, or a free one where that is taken)
The data is kept in HEDDLE_DATA (default: the folder data of Heddle).
`

await runDemo({
  help: HELP,
  program: 'demo/train.py',
  passed: {
    task: ['sums', 'preference'],
    steps: 'whole number',
    seed: 'whole number',
    'base-model': 'text',
  },
})
