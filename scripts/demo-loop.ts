/**
 * `npm run demo:loop`: sets everything up, starts Heddle, and shows how calls become a better model: traced, judged,
 * collected, trained on, evaluated before and after. `npm run demo:loop -- --help` lists the options.
 */
import { runDemo } from './run-demo.ts'

const HELP = `Usage: npm run demo:loop -- [--exit] [--rounds N] [--seed N] [--base-model ID] [--port N]

Traces a small app with weave and openai, judges 100 calls on the server, trains the app's model on the good ones, and
compares evaluations before and after.
  --exit        end when done: status 0 if the evaluation got better, 1 if not
  --rounds      how often calls are traced, judged and trained on (default 3)
  --seed        seed of the questions (default 0)
  --base-model  an id of engine/models, a local folder or a Hugging Face id (default heddle/loom-tiny)
  --port        port to serve on (default 6060, or a free one where that is taken)
The data is kept in HEDDLE_DATA (default: the folder data of Heddle).
`

await runDemo({
  help: HELP,
  program: 'demo/loop.py',
  passed: { rounds: 'whole number', seed: 'whole number', 'base-model': 'text' },
})
