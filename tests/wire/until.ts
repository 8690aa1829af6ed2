/** Repeats a function until it returns something. */
export async function until<Found>(
  find: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    await new Promise((wake) => setTimeout(wake, 200))
  }
}
