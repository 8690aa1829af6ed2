import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { exampleKey, isSignedIn } from '../../api/key.ts'
import { CodeBlock } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { clientLines } from './connect-lines.ts'

/** The exact lines that connect each client to this server. */
export function Connect({ project }: { project: string }) {
  const clients = clientLines(window.location.origin, project, exampleKey())
  const [chosen, choose] = useState(clients[0]?.id ?? '')
  return (
    <section aria-labelledby="connect" className="rounded-lg border border-hair bg-panel">
      <h2 id="connect" className="px-4 pt-3 text-base font-strong text-strong">
        Point a client here
      </h2>
      {isSignedIn() && (
        <p className="px-4 pt-1 text-muted">
          <Link to="/settings" className="text-link underline">
            Make a key
          </Link>{' '}
          and put it where YOUR_KEY stands.
        </p>
      )}
      <Tabs
        label="Clients"
        value={chosen}
        onChange={choose}
        className="mt-1"
        tabs={clients.map(({ id, name, shows, blocks }) => ({
          value: id,
          label: name,
          content: (
            <div className="flex flex-col gap-2 p-4">
              {blocks.map(({ label, code }) => (
                <CodeBlock key={label} label={`${name}, ${label}`} code={code} />
              ))}
              <p className="text-muted">{shows}</p>
            </div>
          ),
        }))}
      />
    </section>
  )
}
