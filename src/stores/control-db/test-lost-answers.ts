import { vi } from 'vitest'
import { CommitInDoubt, type ControlDb } from './port.ts'

/**
 * Until disposal, transactions are committed, and the answer to that is lost.
 * @param isLost asked after each commit; all answers are lost without it
 */
export function loseAnswers(
  control: ControlDb,
  isLost: () => Promise<boolean> = async () => true,
): Disposable {
  const begin = control.transaction.bind(control)
  return vi.spyOn(control, 'transaction').mockImplementation(() => {
    const begun = begin()
    const execute = begun.execute.bind(begun)
    begun.execute = async (work) => {
      const result = await execute(work)
      if (await isLost()) throw new CommitInDoubt(new Error('The connection was lost'))
      return result
    }
    return begun
  })
}
