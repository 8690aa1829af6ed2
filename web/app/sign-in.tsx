import { type ReactNode, type SyntheticEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { type Owner, resume, signIn, signInOptions, userOfSession } from '../api/key.ts'
import { Button, buttonLook } from '../components/button.tsx'
import { Input } from '../components/input.tsx'
import { messageOf } from '../components/message-of.ts'
import { signInProblem } from './sign-in-problems.ts'

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
  if (token === '') return undefined
  history.replaceState(null, '', LINK_PATH)
  return token
}

/**
 * `asking` until it is known whether the browser has to sign in at all; `other` while the person decides whether a link
 * replaces the session that the browser has.
 */
type State = 'asking' | 'ready' | 'entering' | { other: string; token: string }

interface SignInProps {
  /** Whether a page of the person stays below it: signing in elsewhere must not replace it. */
  isOverPage: boolean
  /** The person was let in, as this user. */
  onEnter: (owner: Owner) => Promise<void>
}

/** Shown where the server asks who one is: a link signs in by itself, a key is entered. */
export function SignIn({ isOverPage, onEnter }: SignInProps) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState(() => signInProblem(location.search))
  const [state, setState] = useState<State>('asking')
  const [hasProvider, setHasProvider] = useState(false)
  const hasBegun = useRef(false)

  /** A page that was refused is shown where it was; a link leads home. */
  async function goOn(owner: Owner): Promise<void> {
    if (isSignInLink()) location.replace('/')
    else await onEnter(owner)
  }

  function fail(error: unknown, next: State = 'ready'): void {
    setProblem(messageOf(error))
    setState(next)
  }

  /** @param before where a failure leads back to */
  async function enter(shown: { token: string } | { key: string }, before?: State): Promise<void> {
    setState('entering')
    setProblem(undefined)
    try {
      await goOn(await signIn(shown))
    } catch (error) {
      fail(error, before)
    }
  }

  /** A session is replaced in all tabs of the browser: the person of the session is asked before the link is used. */
  async function follow(token: string): Promise<void> {
    const other = await userOfSession()
    if (other === undefined) await enter({ token })
    else setState({ other, token })
  }

  async function begin(): Promise<void> {
    const token = takeToken()
    if (token !== undefined) await follow(token)
    const options = await signInOptions()
    setHasProvider(options?.single_sign_on ?? false)
    if (token !== undefined) return
    const owner = options !== undefined && problem === undefined ? await resume(options) : undefined
    if (owner === undefined) setState('ready')
    else await goOn(owner).catch((error: unknown) => fail(error))
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it begins once, however often this is drawn
  useEffect(() => {
    // A link that is opened where this page is already changes the fragment alone.
    const onHash = () => {
      const token = takeToken()
      if (token !== undefined) void follow(token)
    }
    addEventListener('hashchange', onHash)
    if (!hasBegun.current) void begin()
    hasBegun.current = true
    return () => removeEventListener('hashchange', onHash)
  }, [])

  useEffect(() => {
    // The person may have signed in in another tab: by a link, or at the provider.
    const onVisible = () => {
      if (document.visibilityState === 'visible' && state === 'ready') void begin()
    }
    document.addEventListener('visibilitychange', onVisible)
    return () => document.removeEventListener('visibilitychange', onVisible)
  })

  return (
    <Cover>
      {typeof state === 'object' && (
        <OtherSession
          user={state.other}
          problem={problem}
          onReplace={() => void enter({ token: state.token }, state)}
          onKeep={() => location.replace('/')}
        />
      )}
      {(state === 'ready' || state === 'entering') && (
        <form
          className="flex w-full max-w-90 flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            void enter({ key: key.trim() })
          }}
        >
          <title>Sign in · Heddle</title>
          <h1 className="text-lg font-strong text-strong">Sign in to Heddle</h1>
          <Problem text={problem} />
          {hasProvider && <Provider isOverPage={isOverPage} />}
          <p className="text-muted">
            Open the sign-in link that an operator gave you, or enter an API key that may do everything. The
            key is not kept in this browser.
          </p>
          <Input label="API key" type="password" placeholder="API key" value={key} onValueChange={setKey} />
          <Button
            type="submit"
            look={hasProvider ? 'plain' : 'primary'}
            disabled={key.trim() === '' || state === 'entering'}
          >
            {state === 'entering' ? 'Signing in …' : 'Sign in'}
          </Button>
        </form>
      )}
    </Cover>
  )
}

function Problem({ text }: { text: string | undefined }) {
  return (
    text !== undefined && (
      <p role="alert" className="text-error wrap-anywhere">
        {text}
      </p>
    )
  )
}

function Provider({ isOverPage }: { isOverPage: boolean }) {
  return (
    <>
      <a href={providerHref()} target={isOverPage ? '_blank' : undefined} className={buttonLook('primary')}>
        Single sign-on
      </a>
      <p className="text-muted">Or:</p>
    </>
  )
}

interface OtherSessionProps {
  user: string
  /** Why the link could not be used. */
  problem: string | undefined
  onReplace: () => void
  onKeep: () => void
}

/** Asks whether a link may replace the session of this browser. */
function OtherSession({ user, problem, onReplace, onKeep }: OtherSessionProps) {
  return (
    <div className="flex w-full max-w-90 flex-col gap-3">
      <title>Sign in · Heddle</title>
      <h1 className="text-lg font-strong text-strong wrap-anywhere">You are signed in as {user}</h1>
      <p className="text-muted">
        Sign in as another person? This browser is then signed in as the person of the link, in all its tabs.
        Until then, the link is not used.
      </p>
      <Problem text={problem} />
      <Button look="primary" onClick={onReplace}>
        Sign in by the link
      </Button>
      <Button onClick={onKeep}>Stay signed in as {user}</Button>
    </div>
  )
}

/** Hides everything else, which the browser then makes inert: windows that are open over the page too. */
function Cover({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [])
  // Escape closes what is modal.
  const onClose = ({ currentTarget }: SyntheticEvent<HTMLDialogElement>) => {
    if (currentTarget.isConnected) currentTarget.showModal()
  }
  return createPortal(
    <dialog
      ref={dialog}
      data-modal
      aria-label="Sign in"
      className="m-0 flex h-full max-h-none w-full max-w-none items-center justify-center bg-bg p-4 text-normal"
      onClose={onClose}
    >
      {children}
    </dialog>,
    document.body,
  )
}

/** Where the provider is asked; afterwards the browser comes back to this page. */
function providerHref(): string {
  const here = isSignInLink() ? '/' : location.pathname + location.search + location.hash
  return `/v1/accounts/oidc/start?return_to=${encodeURIComponent(here)}`
}
