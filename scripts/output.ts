/**
 * Lets a command go on, and end with its own status, when the reader of its output has ended, as `head` does, or its
 * terminal has closed.
 */
export function outliveReader(): void {
  for (const output of [process.stdout, process.stderr])
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
    })
}
