/** The layers of docs/ARCHITECTURE.md as rules; a violation fails the build with the rule's name. */

/** Folders of `src` with decisions: each an area of the product. */
const AREAS = [
  'accounts',
  'contents',
  'curation',
  'evaluation',
  'inference',
  'redaction',
  'retention',
  'system',
  'trace',
  'tracking',
  'training',
]

/** Folders of `src` that areas stand on, or that stand in front of them. */
const FOUNDATIONS = [
  'fairness',
  'http',
  'jobs',
  'json',
  'rule-threads',
  'settings',
  'stores',
  'telemetry',
  'threads',
  'web',
  'wire',
]

/** The folder of `src` that composes the areas, one file for each. */
const COMPOSITION = 'areas'

const anyOf = (names) => `(${names.join('|')})`

/** Files whose subject is files of this machine, and why. */
const FILE_READERS = [
  // Files that a person has put beside the data, to be trained on.
  'src/training/training-data/imports',
  // Measures the data folder, and shows the ends of the engine's logs there.
  'src/system/machine/(disk|engine-logs)',
  // Parts of the program itself: pages, their documents, schemas, and what is installed beside it.
  'src/(web/pages|http/api-docs|trace/otlp/protobuf|inference/information/engine-packages)',
  // Settings that are files.
  'src/settings/read-setting',
]

/** Tests, and what only they import. */
const TESTS = ['\\.(test|contract)\\.ts$', '/(test|use|fake)-[^/]*\\.ts$', '^src/testing\\.ts$']

export default {
  forbidden: [
    {
      name: 'every-folder-has-a-place',
      severity: 'error',
      comment: 'name the folder above, so that the rules hold for it',
      from: { path: '^src/[^/]+/', pathNot: `^src/${anyOf([...AREAS, ...FOUNDATIONS, COMPOSITION])}/` },
      to: {},
    },
    {
      name: 'framework-only-in-http',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/http/' },
      to: { path: 'node_modules/(hono|@hono)/' },
    },
    {
      name: 'rules-know-no-http',
      severity: 'error',
      from: {
        path: `^src/${anyOf(AREAS)}/`,
        pathNot: ['/routes\\.ts$', ...TESTS],
      },
      // Fields of GraphQL declare who may ask for them, as routes do.
      to: {
        path: '^src/http/',
        pathNot: '^src/http/(access|caller|caller-limits|route)\\.ts$',
      },
    },
    {
      name: 'foundations-know-no-area',
      severity: 'error',
      from: { path: `^src/${anyOf(FOUNDATIONS)}/`, pathNot: TESTS },
      to: { path: `^src/${anyOf(AREAS)}/` },
    },
    {
      name: 'areas-are-composed-above-them',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/${COMPOSITION}/` },
      to: { path: `^src/(${COMPOSITION}/|app\\.ts$)` },
    },
    {
      name: 'queries-are-private',
      severity: 'error',
      from: { path: '^src/([^/]+)/([^/]+)/' },
      to: { path: '^src/[^/]+/[^/]+/[a-z-]*queries(/|\\.ts$)', pathNot: '^src/$1/$2/' },
    },
    {
      name: 'queries-are-private-to-resources',
      severity: 'error',
      from: { path: ['^src/[^/]+\\.ts$', '^src/[^/]+/[^/]+\\.ts$'] },
      to: { path: '^src/[^/]+/[^/]+/[a-z-]*queries(/|\\.ts$)' },
    },
    {
      name: 'queries-are-private-to-areas',
      severity: 'error',
      from: { path: '^src/([^/]+)' },
      to: { path: '^src/[^/]+/[a-z-]*queries\\.ts$', pathNot: '^src/$1/' },
    },
    {
      // Other folders read the calls table by its model, `sql/`, and write calls by the service and `write/parts.ts`.
      name: 'calls-are-read-by-service-or-model',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/trace/calls/' },
      to: { path: '^src/trace/calls/((read|render)/|write/(queries|descendants|truncate))' },
    },
    {
      name: 'the-calls-table-knows-no-reader',
      severity: 'error',
      from: { path: '^src/trace/calls/sql/' },
      to: { path: '^src/trace/calls/(read|render|write)/' },
    },
    {
      name: 'stores-know-no-http-and-no-jobs',
      severity: 'error',
      from: { path: '^src/stores/' },
      to: { path: '^src/(http|jobs|web)/' },
    },
    {
      name: 'jobs-know-no-http',
      severity: 'error',
      from: { path: '^src/jobs/' },
      to: { path: '^src/(http|web)/' },
    },
    {
      name: 'drivers-only-in-stores',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/stores/' },
      to: { path: '(^(node:)?sqlite$|node_modules/(chdb|ffi-rs|@clickhouse|@aws-sdk|@redis|pg)/)' },
    },
    {
      name: 'reports-only-by-their-port',
      comment:
        'spans and numbers pass through src/telemetry.ts; the adapter is loaded only where a collector is set',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/telemetry/', '^src/open-telemetry\\.ts$', ...TESTS] },
      to: { path: '(node_modules/@opentelemetry/|^src/telemetry/)' },
    },
    {
      name: 'sql-only-in-queries',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/stores/', '/[a-z-]*queries(/|\\.ts$)', ...TESTS] },
      to: { path: 'node_modules/kysely/' },
    },
    {
      name: 'files-only-where-files-are-the-matter',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/stores/', `^${anyOf(FILE_READERS)}\\.ts$`, ...TESTS] },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'wire-is-safe-for-the-browser',
      severity: 'error',
      from: { path: '(/|-)wire\\.ts$', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '((/|-)wire\\.ts$|node_modules/zod/|^src/(json/lossless-json|time)\\.ts$)' },
    },
    {
      name: 'web-parts-know-no-feature',
      severity: 'error',
      from: { path: '^web/(api|components)/' },
      to: { path: '^web/(app|features)/' },
    },
    {
      name: 'web-features-stand-alone',
      severity: 'error',
      from: { path: '^web/features/([^/]+)/' },
      to: { path: '^web/(app|features)/', pathNot: '^web/features/$1/' },
    },
    {
      name: 'web-knows-the-server-by-its-wire',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^src/', pathNot: '((/|-)wire\\.ts$|^src/json/lossless-json\\.ts$)' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^web/dist' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
