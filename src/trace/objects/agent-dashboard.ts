import { z } from 'zod'
import { JsonNumber } from '../../json/lossless-json.ts'
import { Integer, model, optional } from './stored-model.ts'

const GRID_COLUMNS = 24
const SERIES_MAX = 50

/** Wire: everything in a dashboard derives from one class. */
const ofPanel = { extras: 'refuse', bases: ['DashboardConfigModel'] } as const
const ofQuery = { extras: 'refuse', bases: ['PanelQueryConfig', 'DashboardConfigModel'] } as const

const Layout = model(
  'PanelGridLayout',
  { x: from(0, GRID_COLUMNS - 1), y: from(0), w: from(1, GRID_COLUMNS), h: from(1) },
  ofPanel,
).refine(({ x, w }) => Number(x.source) + Number(w.source) <= GRID_COLUMNS, 'Extends beyond the grid')

const query = {
  version: from(1, 1).prefault(new JsonNumber('1')),
  metric: z.string().min(1),
  filter: z.string().default(''),
  format: optional(z.enum(['number', 'percent', 'cost', 'duration'])),
}

const KpiQuery = model('KpiPanelQueryConfig', query, ofQuery)
const TimelineQuery = model(
  'TimelinePanelQueryConfig',
  { ...query, groupBy: optional(z.string()), limit: optional(from(1, SERIES_MAX)) },
  ofQuery,
)
const BreakdownQuery = model(
  'BreakdownPanelQueryConfig',
  { ...query, groupBy: z.string().min(1), limit: from(1, SERIES_MAX).prefault(new JsonNumber('6')) },
  ofQuery,
)

function panel<Q extends z.ZodType>(name: string, Query: Q) {
  return model(
    `${name}DashboardPanel`,
    {
      id: z.string().min(1),
      layout: Layout,
      panel_type: z.literal(name.toLowerCase()),
      settings: model(`${name}PanelSettings`, { query: Query, title: optional(z.string()) }, ofPanel),
    },
    { extras: 'refuse', bases: ['DashboardPanelBase', 'DashboardConfigModel'] },
  )
}

const Definition = model(
  'AgentDashboardDefinition',
  {
    panels: z.array(
      z.union([panel('Kpi', KpiQuery), panel('Timeline', TimelineQuery), panel('Breakdown', BreakdownQuery)]),
    ),
  },
  ofPanel,
)

export const AgentDashboard = model(
  'AgentDashboard',
  {
    name: optional(z.string()),
    description: optional(z.string()),
    label: z.string(),
    definition: Definition,
  },
  { bases: ['BaseObject'] },
)

function from(min: number, max = Number.POSITIVE_INFINITY) {
  return Integer.refine(
    ({ source }) => Number(source) >= min && Number(source) <= max,
    `Must be ${max === Number.POSITIVE_INFINITY ? `at least ${min}` : `from ${min} to ${max}`}`,
  )
}
