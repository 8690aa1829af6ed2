/** Loaded into a server under test: each SIGUSR2 makes a listener throw, as a bug would. */
process.on('SIGUSR2', () => {
  throw new Error('made to throw')
})
