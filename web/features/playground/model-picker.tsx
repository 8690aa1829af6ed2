import { useQuery } from '@tanstack/react-query'
import { Check, ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { servedModelsQuery } from '../../api/completions.ts'
import type { ProjectName } from '../../api/project.ts'
import { checkpointsQuery, type Model, modelsQuery } from '../../api/training.ts'
import { classNames } from '../../components/class-names.ts'
import { formatNumber } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { Popover } from '../../components/popover.tsx'
import { ErrorLine, Skeleton } from '../../components/states.tsx'

interface ModelPickerProps {
  project: ProjectName
  /** `entity/project/name:step3`, `entity/project/name`, or a base model. */
  value: string
  onChange: (model: string) => void
}

/** Chooses the model: a step of one of the project's models, the newest step of any other, or a base model. */
export function ModelPicker({ project, value, onChange }: ModelPickerProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      label="Models"
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="w-96 max-w-[calc(100vw-24px)] p-0"
      trigger={
        <button
          type="button"
          aria-label={`Model: ${value === '' ? 'none chosen' : value}`}
          title={value}
          className="flex h-7 min-w-0 flex-1 items-center gap-1 rounded-md border border-line/60 bg-panel px-2 text-start text-sm hover:bg-hover coarse:h-11"
        >
          <span className="min-w-0 flex-1 truncate text-strong">
            {value === '' ? 'Choose a model' : shortName(value, project)}
          </span>
          <ChevronDown size={14} className="shrink-0 text-muted" aria-hidden />
        </button>
      }
    >
      <ModelList
        project={project}
        value={value}
        onChange={(model) => {
          onChange(model)
          setOpen(false)
        }}
      />
    </Popover>
  )
}

/** Without what all models of the project share. */
export function shortName(model: string, { entity, project }: ProjectName): string {
  const prefix = `${entity}/${project}/`
  return model.startsWith(prefix) ? model.slice(prefix.length) : model
}

function ModelList({ project, value, onChange }: ModelPickerProps) {
  const [wanted, setWanted] = useState('')
  const own = useQuery(modelsQuery(project))
  const served = useQuery(servedModelsQuery)
  const failed = [own, served].find(({ isLoadingError }) => isLoadingError)
  const prefix = `${project.entity}/${project.project}/`
  const isWanted = (name: string) => name.toLowerCase().includes(wanted.toLowerCase())
  const models = (own.data ?? []).filter(({ name }) => isWanted(name))
  const others = (served.data ?? []).filter((name) => !name.startsWith(prefix) && isWanted(name))
  return (
    <div className="flex max-h-96 flex-col">
      <div className="border-b border-hair p-2">
        <Input label="Find a model" placeholder="Find a model" value={wanted} onValueChange={setWanted} />
      </div>
      <div className="thin-scroll min-h-0 overflow-y-auto p-1">
        {own.isPending && <Skeleton className="m-2 h-16" />}
        {models.map((model) => (
          <ModelSteps
            key={model.id}
            model={model}
            value={value}
            onChange={onChange}
            isOpenAtFirst={models.length === 1 || value.startsWith(`${prefix}${model.name}`)}
          />
        ))}
        {others.length > 0 && (
          <p className="px-2 pt-2 pb-1 text-2xs text-muted">Base models and other projects</p>
        )}
        {others.map((name) => (
          <Choice key={name} isChosen={name === value} onChoose={() => onChange(name)}>
            <span className="truncate">{name}</span>
          </Choice>
        ))}
        {failed?.error != null && (
          <ErrorLine
            title="Not all models could be loaded"
            error={failed.error}
            onRetry={() => void failed.refetch()}
          />
        )}
        {failed === undefined && !own.isPending && models.length + others.length === 0 && (
          <p className="p-2 text-muted">No model is named like this.</p>
        )}
      </div>
    </div>
  )
}

interface ModelStepsProps {
  model: Model
  value: string
  onChange: (model: string) => void
  isOpenAtFirst: boolean
}

/** A model with its steps, the newest first, each with its reward. */
function ModelSteps({ model, value, onChange, isOpenAtFirst }: ModelStepsProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const { data } = useQuery({ ...checkpointsQuery(model.id, { isLive: false }), enabled: isOpen })
  const Chevron = isOpen ? ChevronDown : ChevronRight
  const name = `${model.entity}/${model.project}/${model.name}`
  return (
    <section aria-label={model.name}>
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex h-7 w-full items-center gap-1 rounded-sm px-1 text-start hover:bg-hover coarse:h-11"
        onClick={() => setOpen(!isOpen)}
      >
        <Chevron size={14} className="text-muted" aria-hidden />
        <span className="min-w-0 flex-1 truncate font-strong text-strong">{model.name}</span>
      </button>
      {isOpen && data === undefined && <Skeleton className="mx-6 my-1 h-12" />}
      {isOpen &&
        data?.toReversed().map(({ step, metrics, tags }) => (
          <Choice
            key={step}
            isChosen={value === `${name}:step${step}`}
            onChoose={() => onChange(`${name}:step${step}`)}
          >
            <span className="tabular ps-4">step {step}</span>
            <span className="truncate text-2xs text-muted">{tags.join(' ')}</span>
            <span className="tabular ms-auto text-xs text-muted">
              {metrics['reward'] === undefined ? '' : `reward ${formatNumber(metrics['reward'])}`}
            </span>
          </Choice>
        ))}
    </section>
  )
}

interface ChoiceProps {
  isChosen: boolean
  onChoose: () => void
  children: React.ReactNode
}

function Choice({ isChosen, onChoose, children }: ChoiceProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={classNames(
        'flex h-7 w-full items-center gap-2 rounded-sm px-2 text-start hover:bg-hover coarse:h-11',
        isChosen && 'bg-selected text-strong',
      )}
      onClick={onChoose}
    >
      {children}
      {isChosen && <Check size={14} className="shrink-0" aria-hidden />}
    </button>
  )
}
