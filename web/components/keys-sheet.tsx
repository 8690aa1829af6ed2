import { Dialog } from './dialog.tsx'
import { Keys } from './key-caps.tsx'
import { useKeyScopes } from './keys.ts'

/** Every key that does something here and now, made from the same table that the keys come from. */
export function KeysSheet({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const scopes = useKeyScopes()
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <div className="flex flex-col gap-4">
        {scopes
          .filter(({ bindings }) => bindings.length > 0)
          .map(({ name, bindings }) => (
            <section key={name}>
              <h3 className="mb-1 text-2xs text-muted">{name}</h3>
              <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
                {bindings.map(({ keys, does }) => (
                  <div key={keys} className="contents">
                    <dt>{does}</dt>
                    <dd>
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
