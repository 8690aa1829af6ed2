import { useMutation, useQueryClient } from '@tanstack/react-query'
import { failureOf } from '../../../api/client.ts'
import { notify } from '../../../components/toast.ts'

interface ChangeOptions<Result> {
  /** Such as `The key was not made`. */
  failed: string
  /** The keys of queries that hold other data afterwards; those of accounts where absent. */
  changes?: readonly (readonly string[])[]
  onDone?: (result: Result) => void
}

/** A change as it was when it was asked for: what is shown by the time it is sent may be of another team. */
interface Asked<Result> extends ChangeOptions<Result> {
  send: () => Promise<Result>
}

const ACCOUNTS = [['accounts']] as const

/** A change of settings: afterwards what it changes is loaded anew; a refusal is shown with its reason. */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  options: ChangeOptions<Result>,
) {
  const queryClient = useQueryClient()
  // Of a change that waits for the server, the library calls the functions of the latest render.
  const { mutate, isPending } = useMutation({
    mutationFn: ({ send }: Asked<Result>) => send(),
    onSuccess: (result, { onDone }) => onDone?.(result),
    onError: (error, { failed }) => notify({ title: failed, detail: failureOf(error) }),
    // Also after a failure: without an answer, the change may have been made.
    onSettled: async (_result, _error, { changes = ACCOUNTS }) => {
      await Promise.all(changes.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    },
  })
  return {
    isPending,
    /** @param own what differs for this change alone */
    mutate: (input: Input, own: Partial<ChangeOptions<Result>> = {}) =>
      mutate({ ...options, ...own, send: () => change(input) }),
  }
}
