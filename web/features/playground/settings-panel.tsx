import { X } from 'lucide-react'
import { useId } from 'react'
import { IconButton } from '../../components/button.tsx'
import { CodeEditor } from '../../components/code-editor.tsx'
import { PARAMETERS, type Parameter } from './parameters.ts'
import type { Settings } from './settings.ts'

interface SettingsPanelProps {
  settings: Settings
  onChange: (settings: Settings) => void
}

const TOOLS_HINT = `[{"type": "function", "function": {"name": "weather",
  "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]`
const SCHEMA_HINT = `{"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]}`
const OTHERS_HINT = `{"logit_bias": {"42": -5}}`

/** Everything that can be sent beside messages; what is left empty is not sent. */
export function SettingsPanel({ settings, onChange }: SettingsPanelProps) {
  const system = useId()
  const setParameter = (name: string, text: string) => {
    const { [name]: _old, ...others } = settings.parameters
    onChange({ ...settings, parameters: text === '' ? others : { ...others, [name]: text } })
  }
  return (
    <div className="flex flex-col gap-4 p-3">
      <label htmlFor={system} className="flex flex-col gap-1 text-xs text-muted">
        System message
        <textarea
          id={system}
          rows={3}
          value={settings.system}
          className="resize-y rounded-md border border-line/60 bg-panel p-2 text-sm text-strong"
          onChange={(event) => onChange({ ...settings, system: event.currentTarget.value })}
        />
      </label>
      <fieldset className="flex flex-col gap-1">
        <legend className="pb-1 text-xs text-muted">Sampling; only what is set is sent</legend>
        {PARAMETERS.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            text={settings.parameters[parameter.name] ?? ''}
            onText={(text) => setParameter(parameter.name, text)}
          />
        ))}
      </fieldset>
      <Editor
        title="Tools"
        hint={TOOLS_HINT}
        value={settings.tools}
        onChange={(tools) => onChange({ ...settings, tools })}
      />
      <Editor
        title="JSON schema of the answer"
        hint={SCHEMA_HINT}
        value={settings.schema}
        onChange={(schema) => onChange({ ...settings, schema })}
      />
      <Editor
        title="Other fields of the request"
        hint={OTHERS_HINT}
        value={settings.others}
        onChange={(others) => onChange({ ...settings, others })}
      />
    </div>
  )
}

interface EditorProps {
  title: string
  hint: string
  value: string
  onChange: (value: string) => void
}

function Editor({ title, hint, value, onChange }: EditorProps) {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h3 className="text-xs text-muted">{title}</h3>
      <CodeEditor label={title} placeholder={hint} value={value} onChange={onChange} />
    </section>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  text: string
  onText: (text: string) => void
}

function ParameterField({ parameter: { name, kind, about, choices }, text, onText }: ParameterFieldProps) {
  const id = useId()
  const look = 'h-7 w-28 rounded-md border border-line/60 bg-panel px-2 text-sm text-strong coarse:h-11'
  const options = kind === 'flag' ? ['true', 'false'] : choices
  return (
    <div className="flex items-center gap-2">
      <label htmlFor={id} title={about} className="min-w-0 flex-1 truncate">
        <span className="font-mono text-xs text-normal">{name}</span>{' '}
        <span className="text-2xs text-muted max-md:hidden">{about}</span>
      </label>
      {options !== undefined ? (
        <select id={id} value={text} className={look} onChange={(event) => onText(event.currentTarget.value)}>
          <option value="">not set</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : kind === 'lines' ? (
        <textarea
          id={id}
          rows={1}
          value={text}
          placeholder="not set"
          className={`${look} h-auto min-h-7 resize-y py-1 placeholder:text-muted`}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      ) : (
        <input
          id={id}
          inputMode="decimal"
          value={text}
          placeholder="not set"
          className={`${look} tabular text-end placeholder:text-muted`}
          onChange={(event) => onText(event.currentTarget.value.trim())}
        />
      )}
      <IconButton
        size="small"
        label={`Reset ${name}`}
        icon={<X size={12} />}
        className={text === '' ? 'invisible' : ''}
        onClick={() => onText('')}
      />
    </div>
  )
}
