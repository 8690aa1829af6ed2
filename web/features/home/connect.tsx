import { useState } from 'react'
import { CodeBlock } from '../../components/states.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { clientLines } from './connect-lines.ts'

/** The exact lines that connect each client to this server. */
export function Connect({ project }: { project: string }) {
  const clients = clientLines(window.location.origin, project)
  const [chosen, choose] = useState(clients[0]?.id ?? '')
  return (
    <section aria-labelledby="connect" className="rounded-lg border border-hair bg-panel">
      <h2 id="connect" className="px-4 pt-3 text-base font-strong text-strong">
        Point a client here
      </h2>
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
