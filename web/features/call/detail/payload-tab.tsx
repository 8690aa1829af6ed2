import { useMemo } from 'react'
import type { Call } from '../../../api/calls.ts'
import { mediaIn } from '../../../api/media.ts'
import type { Json } from '../../../api/wire.ts'
import { JsonView } from '../../../components/json-view/json-view.tsx'
import { MediaView } from './media-view.tsx'

/** Pictures and sounds shown of one payload. */
const MEDIA_MAX = 12

/** What went in and what came out, with the pictures and sounds in it. */
export function PayloadTab({ project, call }: { project: string; call: Call }) {
  return (
    <>
      <Payload
        key={`inputs ${call.id}`}
        project={project}
        label="Inputs"
        value={call.inputs}
        root={['inputs']}
      />
      <Payload
        key={`output ${call.id}`}
        project={project}
        label="Output"
        value={call.output}
        root={['output']}
      />
    </>
  )
}

interface PayloadProps {
  project: string
  label: string
  value: Json
  root: readonly string[]
}

function Payload({ project, label, value, root }: PayloadProps) {
  const media = useMemo(() => mediaIn(value, MEDIA_MAX), [value])
  return (
    <div className="flex flex-col gap-2">
      <JsonView label={label} value={value} root={root} />
      {media.length > 0 && (
        <div className="flex flex-wrap items-start gap-2">
          {media.map((each, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: media are their place in the payload
            <MediaView key={index} project={project} media={each} />
          ))}
        </div>
      )}
    </div>
  )
}
