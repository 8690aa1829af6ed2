import { Link, useLocation } from '@tanstack/react-router'
import { Keyboard, Moon, PanelLeft, Search, Sun, SunMoon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { ProjectName } from '../api/project.ts'
import { IconButton } from '../components/button.tsx'
import { classNames } from '../components/class-names.ts'
import { Menu } from '../components/menu.tsx'
import { recall, remember } from '../components/remembered.ts'
import { Tooltip } from '../components/tooltip.tsx'
import { AccountMenu } from './account-menu.tsx'
import { PLACES, type Place } from './navigation.ts'
import { ProjectSwitcher } from './project-switcher.tsx'
import { chooseTheme, type Theme, useTheme } from './theme.ts'

const COLLAPSED = 'rail.collapsed'
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'

interface RailProps {
  project: ProjectName | undefined
  onPalette: () => void
  onKeys: () => void
}

/** The navigation: a column at the side, or a bar at the bottom of a phone. */
export function Rail({ project, onPalette, onKeys }: RailProps) {
  const [isCollapsed, setCollapsed] = useState(() => recall(COLLAPSED, isFlag) ?? false)
  const collapse = () => {
    remember(COLLAPSED, !isCollapsed)
    setCollapsed(!isCollapsed)
  }
  const list = useRef<HTMLUListElement>(null)
  const path = useLocation({ select: ({ pathname }) => pathname })
  // On a phone the places are more than fit; the one that is open must not be beyond the edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is what makes another place the open one
  useEffect(() => {
    list.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <nav
      aria-label="Places"
      className={classNames(
        'flex shrink-0 flex-col border-r border-hair bg-panel max-md:h-14 max-md:w-full max-md:flex-row max-md:border-t max-md:border-r-0',
        isCollapsed ? 'w-12' : 'w-50',
      )}
    >
      <div className="flex h-11 shrink-0 items-center gap-1 px-2 max-md:hidden">
        {!isCollapsed && <ProjectSwitcher project={project} onFind={onPalette} />}
        <IconButton
          label={isCollapsed ? 'Widen the rail' : 'Narrow the rail'}
          icon={<PanelLeft size={16} />}
          onClick={collapse}
        />
      </div>
      <ul
        ref={list}
        className="thin-scroll flex min-h-0 flex-1 flex-col gap-px overflow-y-auto px-2 py-1 max-md:flex-row max-md:items-stretch max-md:gap-0 max-md:overflow-x-auto max-md:px-0 max-md:py-0"
      >
        {PLACES.map((place) => (
          <li key={place.name} className="max-md:flex-1">
            <PlaceLink place={place} project={project} isCollapsed={isCollapsed} />
          </li>
        ))}
      </ul>
      <AccountMenu isCollapsed={isCollapsed} />
      <div
        className={classNames(
          'flex shrink-0 gap-1 border-t border-hair p-2 max-md:hidden',
          isCollapsed && 'flex-col',
        )}
      >
        <IconButton label="Find a command" keys="mod+k" icon={<Search size={16} />} onClick={onPalette} />
        <ThemeMenu />
        <IconButton label="Keys" keys="?" icon={<Keyboard size={16} />} onClick={onKeys} />
      </div>
    </nav>
  )
}

/** The place where one is. */
const HERE = { className: '!bg-selected !text-strong', 'aria-current': 'page' } as const

function PlaceLink({
  place,
  project,
  isCollapsed,
}: {
  place: Place
  project: ProjectName | undefined
  isCollapsed: boolean
}) {
  const { icon: Icon, name, to, keys, also = [] } = place
  const isBelow = useLocation({
    select: ({ pathname }) => project !== undefined && also.includes(pathname.split('/')[3] ?? ''),
  })
  const isReachable = project !== undefined || !to.includes('$')
  const look = classNames(
    'flex h-7 items-center gap-2.5 rounded-md px-2 text-muted coarse:h-11 max-md:h-14 max-md:min-w-19 max-md:flex-col max-md:justify-center max-md:gap-1 max-md:rounded-none max-md:px-1',
    isReachable ? 'hover:bg-hover hover:text-strong' : 'opacity-50',
  )
  const content = (
    <>
      <Icon size={16} strokeWidth={1.75} aria-hidden className="shrink-0" />
      <span className={classNames('truncate max-md:max-w-full max-md:text-2xs', isCollapsed && 'md:sr-only')}>
        {name}
      </span>
    </>
  )
  if (!isReachable)
    return (
      // biome-ignore lint/a11y/useSemanticElements: a link that leads nowhere yet
      // biome-ignore lint/a11y/useFocusableInteractive: there is nothing to do with it
      <span role="link" aria-disabled className={look}>
        {content}
      </span>
    )
  const link = (
    <Link
      to={to}
      params={project ?? {}}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={HERE}
      {...(isBelow ? { ...HERE, className: classNames(look, HERE.className) } : { className: look })}
    >
      {content}
    </Link>
  )
  return isCollapsed ? (
    <Tooltip text={name} keys={keys}>
      {link}
    </Tooltip>
  ) : (
    link
  )
}

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'system', label: 'As the system' },
]

function ThemeMenu() {
  const theme = useTheme()
  const Icon = { light: Sun, dark: Moon, system: SunMoon }[theme]
  return (
    <Menu
      side="top"
      trigger={<IconButton label="Theme" icon={<Icon size={16} />} />}
      groups={[
        {
          entries: THEMES.map(({ value, label }) => ({
            label,
            isChosen: value === theme,
            onSelect: () => chooseTheme(value),
          })),
        },
      ]}
    />
  )
}
