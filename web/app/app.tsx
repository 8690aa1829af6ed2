import { focusManager, type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Suspense, useEffect, useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import { meQuery } from '../api/accounts.ts'
import { accept, accessStore, depart, isOfAnother, type Owner } from '../api/key.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { forgetTab } from '../components/remembered.ts'
import { router } from './router.tsx'
import { isSignInLink, SignIn } from './sign-in.tsx'

const Toaster = lazyPart(async () => (await import('../components/toaster.tsx')).Toaster)

/** Everything that the whole app shares. */
export function App({ queryClient }: { queryClient: QueryClient }) {
  const access = useSyncExternalStore(accessStore.subscribe, accessStore.get)
  const isLink = isSignInLink()
  const isKept = access === 'refused' && userOf(queryClient) !== undefined
  // What the page below the sign-in screen would poll is refused as well.
  useEffect(() => focusManager.setFocused(access === 'open' ? undefined : false), [access])
  return (
    <QueryClientProvider client={queryClient}>
      {(access === 'open' || isKept) && !isLink && <RouterProvider router={router} />}
      {(access !== 'open' || isLink) && (
        <SignIn isOverPage={isKept} onEnter={(owner) => goOn(queryClient, owner)} />
      )}
      <Suspense>
        <Toaster />
      </Suspense>
    </QueryClientProvider>
  )
}

/** Whose page this is; undefined until the server has said so. */
function userOf(queryClient: QueryClient): string | undefined {
  return queryClient.getQueryData(meQuery.queryKey)?.user
}

/** Shows the page as it was to the person whose it is, with all that is being written there; to others anew. */
async function goOn(queryClient: QueryClient, owner: Owner): Promise<void> {
  if (userOf(queryClient) === owner) {
    accept(owner)
    await queryClient.invalidateQueries()
    return
  }
  flushSync(depart)
  // The page that was closed has kept its state for a reload.
  if (isOfAnother(owner)) forgetTab()
  accept(owner)
  await queryClient.resetQueries()
}
