import { useState } from 'react'
import { enterKey } from '../api/key.ts'
import { Button } from '../components/button.tsx'
import { Input } from '../components/input.tsx'

/** Shown where the server requires a key and has refused the one of this browser. */
export function SignIn({ onEnter }: { onEnter: () => void }) {
  const [key, setKey] = useState('')
  return (
    <main className="flex h-full items-center justify-center p-4">
      <form
        className="flex w-full max-w-90 flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          enterKey(key.trim())
          onEnter()
        }}
      >
        <h1 className="text-lg font-strong text-strong">Heddle</h1>
        <p className="text-muted">
          This server asks for an API key. It stays in this browser and goes with each request.
        </p>
        <Input label="API key" type="password" placeholder="API key" value={key} onValueChange={setKey} />
        <Button type="submit" look="primary" disabled={key.trim() === ''}>
          Continue
        </Button>
      </form>
    </main>
  )
}
