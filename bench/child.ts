/** Processes that a benchmark starts for clients of their own, and the messages between them: a reply to each task. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A process that does tasks; what types these and their replies have is written in the file that it runs. */
export interface Child<Task, Reply> {
  /** Sends the next task; resolves with the reply. */
  tell(task: Task): Promise<Reply>
  /** Calls back with what the child says that it does. */
  onNow(hear: (now: string) => void): void
  kill(): void
}

/** What a child sends: the reply to a task, or what it does now. */
type Message<Reply> = { reply: Reply } | { now: string }

export function startChild<Task extends object, Reply>(
  file: URL,
  args: readonly string[] = [],
): Child<Task, Reply> {
  const child = fork(fileURLToPath(file), args)
  return {
    tell(task) {
      return new Promise((fulfil) => {
        function take(message: Message<Reply>): void {
          if ('now' in message) return
          child.off('message', take)
          fulfil(message.reply)
        }
        child.on('message', take)
        child.send(task)
      })
    },
    onNow(hear) {
      child.on('message', (message: Message<Reply>) => {
        if ('now' in message) hear(message.now)
      })
    },
    kill() {
      child.kill()
    },
  }
}

/** In a child: does each task that the parent sends, and ends with the parent. */
export function answerParent<Task, Reply>(work: (task: Task) => Promise<Reply>): void {
  process.on('message', (task: Task) => {
    void work(task).then((reply) => process.send?.({ reply } satisfies Message<Reply>))
  })
  process.once('disconnect', () => process.exit())
}

/** In a child: tells the parent what it does now. */
export function tellParent(now: string): void {
  process.send?.({ now } satisfies Message<never>)
}
