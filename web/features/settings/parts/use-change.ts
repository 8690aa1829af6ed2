import { useMutation, useQueryClient } from '@tanstack/react-query'
import { notify } from '../../../components/toast.ts'

interface ChangeOptions<Result> {
  /** Such as `The key was not made`. */
  failed: string
  /** The keys of queries that hold other data afterwards; those of accounts where absent. */
  changes?: readonly (readonly string[])[]
  onDone?: (result: Result) => void
}

const ACCOUNTS = [['accounts']] as const

/** A change of settings: afterwards what it changes is loaded anew; a refusal is shown with its reason. */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  { failed, changes = ACCOUNTS, onDone }: ChangeOptions<Result>,
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (result) => {
      onDone?.(result)
      await Promise.all(changes.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    },
    onError: (error) => notify({ title: failed, detail: error.message }),
  })
}
