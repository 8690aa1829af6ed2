import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
  stripSearchParams,
} from '@tanstack/react-router'
import { loadPart } from '../components/lazy-part.ts'
import { CALL_SEARCH_DEFAULTS, callSearch } from '../features/call/search.ts'
import { datasetsSearch } from '../features/datasets/search.ts'
import { compareSearch } from '../features/evaluations/search.ts'
import { homeSearch } from '../features/home/search.ts'
import { leaderboardSearch } from '../features/leaderboards/search.ts'
import { librarySearch } from '../features/library/search.ts'
import { objectSearch } from '../features/objects/search.ts'
import { PLAYGROUND_SEARCH_DEFAULTS, playgroundSearch } from '../features/playground/search.ts'
import { projectSettingsSearch, settingsSearch } from '../features/settings/search.ts'
import { THREADS_SEARCH_DEFAULTS, threadsSearch } from '../features/threads/search.ts'
import { TRACES_SEARCH_DEFAULTS, tracesSearch } from '../features/traces/search.ts'
import {
  JOB_SEARCH_DEFAULTS,
  jobSearch,
  MODEL_SEARCH_DEFAULTS,
  modelSearch,
  TRAINING_SEARCH_DEFAULTS,
  trainingSearch,
} from '../features/training/search.ts'
import { openCallLink } from './call-link.ts'
import { pageOfLink } from './client-links.ts'
import { Frame } from './frame.tsx'
import { NotFound, PageError, PagePending } from './page-states.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })
const project = createRoute({ getParentRoute: () => root, path: '/$entity/$project' })

// The redirects name addresses and not routes: the type of the tree would otherwise be made of itself.
function openLink({ location }: { location: { pathname: string; searchStr: string } }): never {
  const href = pageOfLink(location.pathname, location.searchStr)
  throw href === undefined ? notFound() : redirect({ href, replace: true })
}

const projectIndex = createRoute({ getParentRoute: () => project, path: '/', beforeLoad: openLink })

const callLink = createRoute({ getParentRoute: () => project, path: 'r/call/$id', beforeLoad: openCallLink })

/** Links that clients print, and every other address below a project. */
const links = createRoute({ getParentRoute: () => project, path: '$', beforeLoad: openLink })

// Every page is a chunk of its own feature, loaded when the pointer is over its link, or when the browser is idle.
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: homeSearch,
  search: { middlewares: [stripSearchParams(homeSearch.parse({}))] },
  component: lazyRouteComponent(() => loadPart(() => import('../features/home/home-page.tsx')), 'HomePage'),
})
const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/system/system-page.tsx')),
    'SystemPage',
  ),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: settingsSearch,
  search: { middlewares: [stripSearchParams(settingsSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/settings/settings-page.tsx')),
    'SettingsPage',
  ),
})
const traces = createRoute({
  getParentRoute: () => project,
  path: 'traces',
  validateSearch: tracesSearch,
  search: { middlewares: [stripSearchParams(TRACES_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(() => loadPart(() => import('./traces-route.tsx')), 'TracesRoute'),
})
const call = createRoute({
  getParentRoute: () => project,
  path: 'calls/$id',
  validateSearch: callSearch,
  search: { middlewares: [stripSearchParams(CALL_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(() => loadPart(() => import('../features/call/call-page.tsx')), 'CallPage'),
})
const threads = createRoute({
  getParentRoute: () => project,
  path: 'threads',
  validateSearch: threadsSearch,
  search: { middlewares: [stripSearchParams(THREADS_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(() => loadPart(() => import('./threads-route.tsx')), 'ThreadsRoute'),
})
const evaluations = createRoute({
  getParentRoute: () => project,
  path: 'evaluations',
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/evaluations/evaluations-page.tsx')),
    'EvaluationsPage',
  ),
})
const compare = createRoute({
  getParentRoute: () => project,
  path: 'compare',
  validateSearch: compareSearch,
  search: { middlewares: [stripSearchParams(compareSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/evaluations/compare-page.tsx')),
    'ComparePage',
  ),
})
const datasets = createRoute({
  getParentRoute: () => project,
  path: 'datasets',
  validateSearch: datasetsSearch,
  search: { middlewares: [stripSearchParams(datasetsSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/datasets/datasets-page.tsx')),
    'DatasetsPage',
  ),
})
const library = createRoute({
  getParentRoute: () => project,
  path: 'library',
  validateSearch: librarySearch,
  search: { middlewares: [stripSearchParams(librarySearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/library/library-page.tsx')),
    'LibraryPage',
  ),
})
const leaderboard = createRoute({
  getParentRoute: () => project,
  path: 'leaderboards/$name',
  validateSearch: leaderboardSearch,
  search: { middlewares: [stripSearchParams(leaderboardSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/leaderboards/leaderboard-page.tsx')),
    'LeaderboardPage',
  ),
})
const object = createRoute({
  getParentRoute: () => project,
  path: 'objects/$name/versions/$version',
  validateSearch: objectSearch,
  search: { middlewares: [stripSearchParams(objectSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/objects/object-page.tsx')),
    'ObjectPage',
  ),
})
const training = createRoute({
  getParentRoute: () => project,
  path: 'training',
  validateSearch: trainingSearch,
  search: { middlewares: [stripSearchParams(TRAINING_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/training/training-page.tsx')),
    'TrainingPage',
  ),
})
const model = createRoute({
  getParentRoute: () => project,
  path: 'training/$model',
  validateSearch: modelSearch,
  search: { middlewares: [stripSearchParams(MODEL_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/training/model-page.tsx')),
    'ModelPage',
  ),
})
const job = createRoute({
  getParentRoute: () => project,
  path: 'training/$model/jobs/$job',
  validateSearch: jobSearch,
  search: { middlewares: [stripSearchParams(JOB_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(() => loadPart(() => import('../features/training/job-page.tsx')), 'JobPage'),
})
const playground = createRoute({
  getParentRoute: () => project,
  path: 'playground',
  validateSearch: playgroundSearch,
  search: { middlewares: [stripSearchParams(PLAYGROUND_SEARCH_DEFAULTS)] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/playground/playground-page.tsx')),
    'PlaygroundPage',
  ),
})
const projectSettings = createRoute({
  getParentRoute: () => project,
  path: 'settings',
  validateSearch: projectSettingsSearch,
  search: { middlewares: [stripSearchParams(projectSettingsSearch.parse({}))] },
  component: lazyRouteComponent(
    () => loadPart(() => import('../features/settings/project-settings-page.tsx')),
    'ProjectSettingsPage',
  ),
})

const ofProject = [
  traces,
  call,
  threads,
  evaluations,
  compare,
  datasets,
  library,
  leaderboard,
  object,
  training,
  model,
  job,
  playground,
  projectSettings,
] as const
const tree = root.addChildren([
  home,
  system,
  settings,
  project.addChildren([projectIndex, ...ofProject, callLink, links]),
])

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: PageError,
  defaultPendingComponent: PagePending,
  defaultPendingMs: 150,
  scrollRestoration: false,
  // What was chosen, opened or typed belongs to one project.
  defaultRemountDeps: ({ params }) => ('project' in params ? [params.entity, params.project] : []),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
