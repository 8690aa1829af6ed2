import { useEffect, useRef, useState } from 'react'
import { SIGN_IN_ERRORS } from '../../src/accounts/oidc/sign-in-errors-wire.ts'
import { hasSingleSignOn, signIn, startSingleSignOn } from '../api/key.ts'
import { Button } from '../components/button.tsx'
import { Input } from '../components/input.tsx'

/** The address of a sign-in link; its token is in the fragment, which browsers do not send. */
const LINK_PATH = '/sign-in'

/** Whether the page was opened by a sign-in link. */
export function isSignInLink(): boolean {
  return location.pathname === LINK_PATH
}

/** The token of the link, which is taken out of the address, so that the history does not keep it. */
function takeToken(): string | undefined {
  if (!isSignInLink()) return undefined
  const token = location.hash.slice(1)
  history.replaceState(null, '', LINK_PATH)
  return token === '' ? undefined : token
}

/** Why the sign-in provider did not sign the person in, by the code in the address. */
function problemInAddress(): string | undefined {
  const code = new URLSearchParams(location.search).get('error')
  return isSignInLink() ? Object.entries(SIGN_IN_ERRORS).find(([known]) => known === code)?.[1] : undefined
}

/** Where the person wanted to go. */
function wantedPath(): string {
  return isSignInLink() ? '/' : location.pathname + location.search
}

/** Shown where the server asks who one is: a link signs in by itself, a key is entered. */
export function SignIn({ onEnter }: { onEnter: () => void }) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState(problemInAddress)
  const [hasProvider, setHasProvider] = useState(false)
  const [isWaiting, setWaiting] = useState(false)
  const hasTried = useRef(false)

  async function enter(shown: { token: string } | { key: string }): Promise<void> {
    setWaiting(true)
    setProblem(undefined)
    try {
      await signIn(shown)
      // A page that was refused is shown where it was; a link leads home.
      if (isSignInLink()) location.replace('/')
      else onEnter()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setWaiting(false)
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a link signs in once, however often this is drawn
  useEffect(() => {
    if (hasTried.current) return
    hasTried.current = true
    void hasSingleSignOn().then(setHasProvider)
    const token = takeToken()
    if (token !== undefined) void enter({ token })
  }, [])

  return (
    <main className="flex h-full items-center justify-center p-4">
      <form
        className="flex w-full max-w-90 flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void enter({ key: key.trim() })
        }}
      >
        <title>Sign in · Heddle</title>
        <h1 className="text-lg font-strong text-strong">Sign in to Heddle</h1>
        <p className="text-muted">
          Open the sign-in link that an operator gave you, or enter an API key without limits. The key is not
          kept in this browser.
        </p>
        <Input label="API key" type="password" placeholder="API key" value={key} onValueChange={setKey} />
        {problem !== undefined && (
          <p role="alert" className="text-error wrap-anywhere">
            {problem}
          </p>
        )}
        <Button type="submit" look="primary" disabled={key.trim() === '' || isWaiting}>
          {isWaiting ? 'Signing in …' : 'Sign in'}
        </Button>
        {hasProvider && (
          <Button disabled={isWaiting} onClick={() => startSingleSignOn(wantedPath())}>
            Single sign-on
          </Button>
        )}
      </form>
    </main>
  )
}
