import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MeRes } from '../../api/accounts.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { classNames } from '../../components/class-names.ts'
import type { ProjectSettingsTab, SettingsTab } from './search.ts'

interface SettingsNavProps {
  me: MeRes
  here: SettingsTab | ProjectSettingsTab
  /** Whose settings are open, if those of a project are. */
  project?: ProjectName | undefined
}

/** The pages of the settings: a column, or a row above the page on a phone. */
export function SettingsNav({ me, here, project }: SettingsNavProps) {
  const link = (tab: SettingsTab, label: string) => (
    <Item isHere={tab === here}>
      <Link to="/settings" search={{ tab }} {...lookOf(tab === here)}>
        {label}
      </Link>
    </Item>
  )
  const ofProject = (tab: ProjectSettingsTab, label: string) =>
    project !== undefined && (
      <Item isHere={tab === here}>
        <Link to="/$entity/$project/settings" params={project} search={{ tab }} {...lookOf(tab === here)}>
          {label}
        </Link>
      </Item>
    )
  return (
    <nav
      aria-label="Settings"
      className="thin-scroll flex shrink-0 flex-col gap-4 overflow-auto border-hair px-2 py-3 max-md:flex-row max-md:gap-2 max-md:border-b max-md:py-1 md:w-44 md:border-r"
    >
      {project !== undefined && (
        <Group label={projectId(project)}>
          {ofProject('redaction', 'Redaction')}
          {ofProject('retention', 'Retention')}
          {ofProject('erasure', 'Erasure')}
        </Group>
      )}
      {me.auth === 'keys' ? (
        <Group label="Accounts">
          {link('keys', 'Keys')}
          {link('members', 'Members')}
          {link('limits', 'Limits')}
          {link('budgets', 'Budgets')}
          {link('providers', 'Providers')}
          {link('teams', 'Teams')}
          {me.is_operator && link('users', 'Users')}
          {link('audit', 'Audit')}
        </Group>
      ) : (
        <Group label="Accounts">{link('keys', 'One user')}</Group>
      )}
      <Group label="Data">
        {link('projects', 'Projects')}
        {link('erasures', 'Receipts')}
      </Group>
    </nav>
  )
}

function Group({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section aria-label={label} className="flex flex-col gap-px max-md:flex-row max-md:items-center">
      <h2 className="truncate px-2 pb-1 text-2xs text-muted max-md:sr-only">{label}</h2>
      <ul className="contents">{children}</ul>
    </section>
  )
}

/** On a phone the pages are more than fit; the one that is open must not be beyond the edge. */
function Item({ isHere, children }: { isHere: boolean; children: ReactNode }) {
  return (
    <li
      ref={(item) => {
        if (isHere) item?.scrollIntoView({ block: 'nearest', inline: 'center' })
      }}
    >
      {children}
    </li>
  )
}

function lookOf(isHere: boolean) {
  return {
    'aria-current': isHere ? ('page' as const) : undefined,
    className: classNames(
      'flex h-7 items-center rounded-md px-2 whitespace-nowrap coarse:h-11',
      isHere ? 'bg-selected text-strong' : 'text-muted hover:bg-hover hover:text-strong',
    ),
  }
}
