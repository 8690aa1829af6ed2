import { signOut } from '../../api/key.ts'
import { forgetTab } from '../../components/remembered.ts'
import { notify } from '../../components/toast.ts'

/** Signs out and removes what this tab remembers of the person, or says why not. */
export function leave(): void {
  signOut()
    .then(forgetTab)
    .catch((error: Error) => notify({ title: 'Signing out failed', detail: error.message }))
}
