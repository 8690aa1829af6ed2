import { useMutation, useQueryClient } from '@tanstack/react-query'
import { notify } from '../../components/toast.ts'

/** A change of accounts: afterwards all lists of accounts are loaded anew; a refusal is shown with its reason. */
export function useChange<Input, Result>(
  change: (input: Input) => Promise<Result>,
  { failed, onDone }: { failed: string; onDone?: (result: Result) => void },
) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async (result) => {
      onDone?.(result)
      await queryClient.invalidateQueries({ queryKey: ['accounts'] })
    },
    onError: (error) => notify({ title: failed, detail: error.message }),
  })
}
