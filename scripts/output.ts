/** Lets a command go on, and end with its own status, when the reader of its output has ended, as `head` does. */
export function outliveReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}
