import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Suspense, useSyncExternalStore } from 'react'
import { refusal } from '../api/key.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { router } from './router.tsx'
import { isSignInLink, SignIn } from './sign-in.tsx'

const Toaster = lazyPart(async () => (await import('../components/toaster.tsx')).Toaster)

/** Everything that the whole app shares. */
export function App({ queryClient }: { queryClient: QueryClient }) {
  const isRefused = useSyncExternalStore(refusal.subscribe, refusal.get)
  return (
    <QueryClientProvider client={queryClient}>
      {isRefused || isSignInLink() ? (
        <SignIn onEnter={() => void queryClient.resetQueries()} />
      ) : (
        <RouterProvider router={router} />
      )}
      <Suspense>
        <Toaster />
      </Suspense>
    </QueryClientProvider>
  )
}
