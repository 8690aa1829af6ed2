import { Button } from '../../components/button.tsx'
import type { CurveSettings } from './search.ts'

interface CurveControlsProps {
  settings: CurveSettings
  /** A slider replaces the address, a button adds to the history. */
  onChange: (change: Partial<CurveSettings>, how: 'push' | 'replace') => void
}

/** How curves are drawn: smoothing and scale. */
export function CurveControls({ settings, onChange }: CurveControlsProps) {
  return (
    <div className="flex items-center gap-3">
      <label className="flex items-center gap-2 text-xs text-muted">
        Smoothing
        <input
          type="range"
          min={0}
          max={0.95}
          step={0.05}
          value={settings.smooth}
          className="w-24 accent-(--accent)"
          onChange={(event) => onChange({ smooth: Number(event.currentTarget.value) }, 'replace')}
        />
        <span className="tabular w-8">{settings.smooth.toFixed(2)}</span>
      </label>
      <Button
        size="small"
        aria-pressed={settings.scale === 'log'}
        className="aria-pressed:bg-selected aria-pressed:text-strong"
        onClick={() => onChange({ scale: settings.scale === 'log' ? 'linear' : 'log' }, 'push')}
      >
        Log scale
      </Button>
    </div>
  )
}
