/** The layers of docs/ARCHITECTURE.md as rules; a violation fails the build with the rule's name. */
export default {
  forbidden: [
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
        path: '^src/(trace|training|tracking|inference|accounts|curation)/',
        pathNot: '(/routes|\\.test)\\.ts$',
      },
      // A body that is read as a stream is checked by its resource, so that needs the words for what is wrong.
      to: { path: '^src/http/', pathNot: '^src/http/(caller|route|validation-error)\\.ts$' },
    },
    {
      name: 'queries-are-private',
      severity: 'error',
      from: { path: '^src/([^/]+)/([^/]+)/' },
      to: { path: '^src/[^/]+/[^/]+/queries(/|\\.ts$)', pathNot: '^src/$1/$2/' },
    },
    {
      name: 'stores-know-no-domain',
      severity: 'error',
      from: { path: '^src/stores/' },
      to: { path: '^src/(trace|training|tracking|inference|accounts|curation|http)/' },
    },
    {
      name: 'drivers-only-in-stores',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/stores/' },
      to: { path: '(^node:sqlite$|node_modules/(chdb|pg)/)' },
    },
    {
      name: 'wire-is-safe-for-the-browser',
      severity: 'error',
      from: { path: '(/|-)wire\\.ts$', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '((/|-)wire\\.ts$|node_modules/zod/|^src/(lossless-json|time)\\.ts$)' },
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
      to: { path: '^src/', pathNot: '((/|-)wire\\.ts$|^src/lossless-json\\.ts$)' },
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
