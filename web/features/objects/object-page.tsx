import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { objectQuery, type StoredObject, sourceQuery, tableOf, versionsQuery } from '../../api/objects.ts'
import { projectId } from '../../api/project.ts'
import { Id } from '../../components/copy-button.tsx'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { CodeBlock, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { VersionSelect } from '../../components/version-select.tsx'
import { MonitorSection } from './monitor-section.tsx'
import { VersionDiff } from './version-diff.tsx'

const route = getRouteApi('/$entity/$project/objects/$name/versions/$version')

/** One version of an object or an op: what it is, its value, its code. */
export function ObjectPage() {
  const { name, version, ...names } = route.useParams()
  const navigate = route.useNavigate()
  const project = projectId(names)
  const object = useQuery(objectQuery(project, name, version))
  const { data: versions = [] } = useQuery(versionsQuery(project, name))
  const found = object.data
  const search = route.useSearch()
  return (
    <Page
      tab={name}
      title={
        <span className="flex items-center gap-2">
          <span className="truncate">{name}</span>
          {found !== undefined && <Id id={found.digest} />}
        </span>
      }
      actions={
        <>
          {versions.length > 1 && (
            <CompareSelect
              versions={versions.filter(({ digest }) => digest !== found?.digest)}
              value={search.with}
              onChange={(other) => void navigate({ search: { with: other } })}
            />
          )}
          <VersionSelect
            versions={versions}
            value={found?.digest ?? version}
            onChange={(next) =>
              void navigate({
                to: '/$entity/$project/objects/$name/versions/$version',
                params: { ...names, name, version: next },
                search: next === search.with ? {} : search,
              })
            }
          />
        </>
      }
    >
      {object.error !== null && found !== undefined && (
        <StaleBanner error={object.error} onRetry={() => void object.refetch()} />
      )}
      {object.error !== null && found === undefined ? (
        <ErrorState
          title="The object could not be loaded"
          error={object.error}
          onRetry={() => void object.refetch()}
        />
      ) : (
        <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 max-md:p-3">
          {found === undefined ? (
            <Skeleton className="h-40 w-full" />
          ) : (
            <>
              <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
                <Badge tone="accent">
                  {found.kind === 'op' ? 'Op' : (found.leaf_object_class ?? 'Object')}
                </Badge>
                {[...(found.tags ?? []), ...(found.aliases ?? [])].map((label) => (
                  <Badge key={label}>{label}</Badge>
                ))}
                <span>
                  version {found.version_index}, made <Time iso={found.created_at} />
                  {found.wb_user_id !== null && ` by ${found.wb_user_id}`}
                </span>
                {tableOf(found.val) !== undefined && (
                  <Link
                    to="/$entity/$project/datasets"
                    params={names}
                    search={{ name, version: found.digest }}
                    className="text-link hover:underline"
                  >
                    Its rows
                  </Link>
                )}
              </p>
              {found.base_object_class === 'Monitor' && <MonitorSection project={project} name={name} />}
              {search.with === '' ? (
                <Content project={project} found={found} />
              ) : (
                <VersionDiff project={project} name={name} found={found} other={search.with} />
              )}
            </>
          )}
        </div>
      )}
    </Page>
  )
}

/** The code of a version, if it has one, and its value. */
function Content({ project, found }: { project: string; found: StoredObject }) {
  const { data: source } = useQuery(sourceQuery(project, found))
  return (
    <>
      {typeof source === 'string' && (
        <section aria-label="Code" className="flex flex-col gap-1">
          <h2 className="text-xs font-strong text-muted">Code</h2>
          <CodeBlock label="the code" code={source} />
        </section>
      )}
      <JsonView label="Value" value={found.val} />
    </>
  )
}

interface CompareSelectProps {
  versions: readonly { digest: string; version_index: number }[]
  /** A digest; empty for none. */
  value: string
  onChange: (digest: string) => void
}

function CompareSelect({ versions, value, onChange }: CompareSelectProps) {
  const options = [
    { value: '', label: 'Compare with…' },
    ...versions.map(({ digest, version_index }) => ({ value: digest, label: `with v${version_index}` })),
  ]
  return <Select label="Compare with" value={value} options={options} onChange={onChange} />
}
