import { signOut } from '../../api/key.ts'
import { notify } from '../../components/toast.ts'

/** Signs out, or says why not. */
export function leave(): void {
  signOut().catch((error: Error) => notify({ title: 'You are still signed in', detail: error.message }))
}
