import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export interface Tab<Value extends string> {
  value: Value
  label: ReactNode
  content: ReactNode
}

interface TabsProps<Value extends string> {
  label: string
  tabs: readonly Tab<Value>[]
  value: Value
  onChange: (value: Value) => void
  className?: string
}

/** Several views of one thing; only the chosen one is rendered. */
export function Tabs<Value extends string>({ label, tabs, value, onChange, className }: TabsProps<Value>) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next: Value) => onChange(next)}
      className={classNames('flex min-h-0 flex-col', className)}
    >
      <Base.List
        aria-label={label}
        className="thin-scroll relative flex shrink-0 gap-1 overflow-x-auto border-b border-hair px-3"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="h-9 shrink-0 border-b-2 border-transparent px-2 text-sm text-muted select-none hover:text-strong data-active:border-accent data-active:text-strong coarse:h-11"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="thin-scroll min-h-0 flex-1 overflow-auto">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
