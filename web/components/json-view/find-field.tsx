import { Search } from 'lucide-react'
import { Input } from '../input.tsx'

interface FindFieldProps {
  value: string
  count: number
  /** Which of the hits is shown, from 0. */
  at: number
  onChange: (value: string) => void
  onStep: (by: -1 | 1) => void
}

/** Finds in what is not all in the document; Enter goes to the next hit, with shift to the one before. */
export function FindField({ value, count, at, onChange, onStep }: FindFieldProps) {
  return (
    <Input
      label="Find in this value"
      placeholder="Find"
      value={value}
      className="!h-6 w-24 !border-transparent !bg-transparent focus-within:w-52 focus-within:!border-focus hover:!bg-hover"
      icon={<Search size={13} aria-hidden />}
      end={
        value !== '' && (
          <output className="tabular text-2xs">{count === 0 ? 'none' : `${at + 1}/${count}`}</output>
        )
      }
      onValueChange={onChange}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && count > 0) onStep(event.shiftKey ? -1 : 1)
        if (event.key === 'Escape' && value !== '') {
          event.stopPropagation()
          event.nativeEvent.stopImmediatePropagation()
          onChange('')
        }
      }}
    />
  )
}
