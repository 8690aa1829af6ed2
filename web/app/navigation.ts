import {
  Activity,
  Database,
  FlaskConical,
  GraduationCap,
  House,
  Library,
  ListTree,
  type LucideIcon,
  MessagesSquare,
  Play,
  Settings,
} from 'lucide-react'

export interface Place {
  name: string
  /** With `$entity` and `$project` for the places of a project. */
  to:
    | '/'
    | '/system'
    | '/settings'
    | `/$entity/$project/${'traces' | 'threads' | 'evaluations' | 'datasets' | 'library' | 'training' | 'playground'}`
  /** First parts of other addresses below a project that belong to it. */
  also?: readonly string[]
  keys: string
  icon: LucideIcon
}

/** Where one can go, in the order of the rail; the palette and the keys are made from it too. */
export const PLACES: readonly Place[] = [
  { name: 'Home', to: '/', keys: 'g h', icon: House },
  { name: 'Traces', to: '/$entity/$project/traces', also: ['calls'], keys: 'g t', icon: ListTree },
  { name: 'Threads', to: '/$entity/$project/threads', keys: 'g c', icon: MessagesSquare },
  {
    name: 'Evaluations',
    to: '/$entity/$project/evaluations',
    also: ['compare'],
    keys: 'g e',
    icon: FlaskConical,
  },
  { name: 'Datasets', to: '/$entity/$project/datasets', keys: 'g d', icon: Database },
  {
    name: 'Library',
    to: '/$entity/$project/library',
    also: ['objects', 'leaderboards'],
    keys: 'g l',
    icon: Library,
  },
  { name: 'Training', to: '/$entity/$project/training', keys: 'g m', icon: GraduationCap },
  { name: 'Playground', to: '/$entity/$project/playground', keys: 'g p', icon: Play },
  { name: 'System', to: '/system', keys: 'g s', icon: Activity },
  { name: 'Settings', to: '/settings', also: ['settings'], keys: 'g ,', icon: Settings },
]
