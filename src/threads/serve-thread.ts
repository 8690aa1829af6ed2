import { parentPort } from 'node:worker_threads'

/** Makes this module the program of a thread: it says that it is ready, and answers one job after the other. */
export function serveThread<Job, Answer>(answerTo: (job: Job) => Answer): void {
  parentPort?.on('message', (job: Job) => parentPort?.postMessage(answerTo(job)))
  parentPort?.postMessage('ready')
}
