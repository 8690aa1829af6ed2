import { pythonIn } from '../../scripts/python-environments.ts'

/** Settings of a server that only trains: the vLLM is said to run elsewhere, where nothing answers. */
export const TRAINER_ALONE = {
  HEDDLE_ENGINE_PYTHON: pythonIn('engine'),
  HEDDLE_VLLM_URL: 'http://127.0.0.1:9',
}
