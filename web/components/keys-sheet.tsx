import { Dialog } from './dialog.tsx'
import { Keys } from './key-caps.tsx'
import { useKeyScopes } from './keys.ts'

/** Every key that does something here and now, made from the same table that the keys come from. */
export function KeysSheet({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const scopes = useKeyScopes()
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose} className="w-[min(46rem,calc(100vw-24px))]">
      <div className="gap-8 sm:columns-2">
        {[...Map.groupBy(scopes, ({ name }) => name.trim())]
          .map(([name, parts]) => ({ name, bindings: parts.flatMap((part) => part.bindings) }))
          .filter(({ bindings }) => bindings.length > 0)
          .map(({ name, bindings }) => (
            <section key={name} className="mb-4 break-inside-avoid">
              <h3 className="mb-1 text-2xs text-muted">{name}</h3>
              <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
                {bindings.map(({ keys, does }) => (
                  <div key={keys} className="contents">
                    <dt>{does}</dt>
                    <dd className="justify-self-end">
                      <Keys keys={keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  )
}
