import { Select } from './select.tsx'

interface VersionSelectProps {
  versions: readonly { digest: string; version_index: number; is_latest: number }[]
  /** A digest. */
  value: string
  onChange: (digest: string) => void
}

/** Chooses one of the versions of a thing, by the numbers that people know them by. */
export function VersionSelect({ versions, value, onChange }: VersionSelectProps) {
  const options = versions.map(({ digest, version_index, is_latest }) => ({
    value: digest,
    label: is_latest === 1 ? `v${version_index}, the newest` : `v${version_index}`,
  }))
  return <Select label="Version" value={value} options={options} onChange={onChange} />
}
