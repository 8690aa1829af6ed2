/** Does work that is given to it; resolves or rejects as the work does. */
type InOrder = <Result>(work: () => Promise<Result>) => Promise<Result>

/** The same for work on something that has a key. */
type InOrderByKey = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Does one piece of work after the other, in the order in which they are given. After one that fails, the next is done.
 */
export function inOrder(): InOrder {
  const byKey = inOrderByKey()
  return (work) => byKey('', work)
}

/** The same for each key; work on other keys is not waited for. */
export function inOrderByKey(): InOrderByKey {
  /** The end of the last piece of work of each key that has some. */
  const ends = new Map<string, Promise<void>>()
  return (key, work) => {
    const done = (ends.get(key) ?? Promise.resolve()).then(work)
    const forget = (): void => {
      if (ends.get(key) === end) ends.delete(key)
    }
    const end = done.then(forget, forget)
    ends.set(key, end)
    return done
  }
}
