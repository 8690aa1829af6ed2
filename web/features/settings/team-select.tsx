import { useInfiniteQuery } from '@tanstack/react-query'
import { teamsQuery } from '../../api/accounts.ts'
import { Select } from '../../components/select.tsx'

interface TeamSelectProps {
  team: string
  onTeam: (name: string) => void
  /** Offered for none of them. */
  all?: string | undefined
}

/** Which team is shown. */
export function TeamSelect({ team, onTeam, all }: TeamSelectProps) {
  const teams = useInfiniteQuery(teamsQuery)
  const names = new Set([...(teams.data ?? []).map(({ name }) => name), ...(team === '' ? [] : [team])])
  const options = [...names].map((name) => ({ value: name, label: name }))
  return (
    <Select
      label="Team"
      className="max-w-60"
      value={team}
      options={all === undefined ? options : [{ value: '', label: all }, ...options]}
      onChange={onTeam}
    />
  )
}
