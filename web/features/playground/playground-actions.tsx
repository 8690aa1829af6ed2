import { Diff, Plus, SlidersHorizontal, SquarePen } from 'lucide-react'
import { Button } from '../../components/button.tsx'

interface PlaygroundActionsProps {
  isDiff: boolean
  canDiff: boolean
  onDiff: () => void
  settingsCount: number
  onSettings: () => void
  onNew: () => void
  canAdd: boolean
  onAdd: () => void
}

/** What concerns all columns, at the end of the title row. */
export function PlaygroundActions(props: PlaygroundActionsProps) {
  return (
    <>
      <Button
        look="quiet"
        aria-pressed={props.isDiff}
        className="aria-pressed:bg-selected aria-pressed:text-strong"
        disabled={!props.canDiff}
        icon={<Diff size={15} />}
        onClick={props.onDiff}
      >
        <span className="max-md:sr-only">Differences</span>
      </Button>
      <Button look="quiet" icon={<SlidersHorizontal size={15} />} onClick={props.onSettings}>
        <span className="max-md:sr-only">Settings</span>
        {props.settingsCount > 0 && <span className="tabular text-2xs">{props.settingsCount}</span>}
      </Button>
      <Button look="quiet" icon={<SquarePen size={15} />} onClick={props.onNew}>
        <span className="max-md:sr-only">New</span>
      </Button>
      <Button icon={<Plus size={15} />} disabled={!props.canAdd} onClick={props.onAdd}>
        <span className="max-md:sr-only">Add column</span>
      </Button>
    </>
  )
}
