import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockedRequirements } from '../scripts/python-environments.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LINES_MAX = 400
/** Characters of a line of comment. */
const COMMENT_WIDTH_MAX = 120
const GENERATED = ['engine/src/engine/contract.py']

/** Files of queries, of the parts of SQL that they share, and tests with what those import. */
const SQL_FILES =
  /(\/([a-z-]+-)?queries(\/|\.ts$)|^src\/trace\/(calls\/sql|query-language)\/|\.test\.ts$|\/(test|use|fake)-[^/]*$)/

const STATEMENTS = [/\.(selectFrom|insertInto|updateTable|deleteFrom)\(/, /\bSELECT\b[^;]*\bFROM\b/]

/** The rules of the house that no linter has. */
describe('tidy', () => {
  const sources = ['src', 'scripts', 'tests', 'demo', 'bench', 'migrations', 'engine', 'web'].flatMap(
    filesBelow,
  )

  it(`no source file is longer than ${LINES_MAX} lines`, () => {
    const long = sources.filter((file) => !GENERATED.includes(file) && linesOf(file).length > LINES_MAX)
    expect(long).toEqual([])
  })

  it(`no line of comment is wider than ${COMMENT_WIDTH_MAX} characters`, () => {
    const wide = sources
      // Migrations that have landed are never edited.
      .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('migrations/'))
      .flatMap((file) =>
        textOf(file)
          .split('\n')
          .flatMap((line, index) =>
            /^\s*(\*|\/\/|\/\*\*) /.test(line) && line.length > COMMENT_WIDTH_MAX
              ? [`${file}:${index + 1}`]
              : [],
          ),
      )
    expect(wide).toEqual([])
  })

  it('only config.ts reads the environment', () => {
    const readers = sources.filter((file) => file.startsWith('src/') && /process\.env\b/.test(textOf(file)))
    expect(readers.filter((file) => !file.endsWith('.test.ts'))).toEqual(['src/config.ts'])
  })

  it('docs/CONFIGURATION.md has a row for every variable that the configuration reads, and for no other', () => {
    const readers = sources.filter((file) => /^src\/(settings\/)?[\w-]+\.ts$/.test(file))
    const read = readers.flatMap((file) => textOf(file).match(/(?:HEDDLE|OTEL)_\w*[A-Z\d]\b/g) ?? [])
    const rows = [...textOf('docs/CONFIGURATION.md').matchAll(/^\| `((?:HEDDLE|OTEL)_\w+)` \|/gm)].map(
      ([, name]) => name,
    )
    expect(rows.sort()).toEqual([...new Set(read)].sort())
  })

  it('statements of SQL stand in files of queries', () => {
    const others = sources.filter((file) => /^src\/(?!stores\/)/.test(file) && !SQL_FILES.test(file))
    const asking = others.filter((file) => STATEMENTS.some((statement) => statement.test(textOf(file))))
    expect(asking).toEqual([])
  })

  it('changes of the web UI take what they send as variables, since the function called may be that of a later render', () => {
    const pages = sources.filter((file) => file.startsWith('web/'))
    expect(pages.filter((file) => /mutationFn: (async )?\(\)/.test(textOf(file)))).toEqual([])
  })

  it('the glossary explains a word of a table once', () => {
    for (const table of textOf('docs/GLOSSARY.md').split(/^## /m)) {
      const words = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, word]) => word)
      expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([])
    }
  })

  it('every method and path is declared once', () => {
    const declared = sources.filter((file) => file.endsWith('/routes.ts')).flatMap(declarationsOf)
    expect(declared.filter((route, index) => declared.indexOf(route) !== index)).toEqual([])
  })

  it('every routes.ts has a wire.ts beside it, and a test there or, with its siblings, in the folder above', () => {
    const folders = sources.filter((file) => file.endsWith('/routes.ts')).map((file) => dirname(file))
    const tested = new Set(sources.filter((file) => file.endsWith('.test.ts')).map((file) => dirname(file)))
    const incomplete = folders.filter(
      (folder) =>
        !sources.includes(`${folder}/wire.ts`) || !(tested.has(folder) || tested.has(dirname(folder))),
    )
    expect(incomplete).toEqual([])
  })

  it.each([
    ['folders', (folder: string) => folder],
    ['areas', (folder: string) => folder.split('/').slice(0, 2).join('/')],
  ])('imports of %s form no circle, apart from src, which has base files and what composes them', (_, at) => {
    const files = sources.filter((file) => /^(src|web)\/(?!.*\btest).*\.tsx?$/.test(file))
    let edges = files
      .flatMap((file) =>
        importsOf(file).map((to) => ({ from: at(dirname(file)), to: at(dirname(to)), file })),
      )
      .filter(({ from, to }) => from !== to && from !== 'src' && to !== 'src')
    // What imports nothing, or is not imported, is in no circle; and so on without it.
    for (let before = Number.POSITIVE_INFINITY; edges.length < before; ) {
      before = edges.length
      const importing = new Set(edges.map(({ from }) => from))
      const imported = new Set(edges.map(({ to }) => to))
      edges = edges.filter(({ from, to }) => importing.has(to) && imported.has(from))
    }
    expect(edges.map(({ file, to }) => `${file} imports ${to}`)).toEqual([])
  })

  it('the calls table is named in SQL by its model alone', () => {
    const named = sources.filter(
      (file) =>
        /^src\/.*(?<!\.test)\.ts$/.test(file) &&
        /\b(FROM|JOIN|INTO|TABLE) calls\b|\bcalls FINAL\b/.test(textOf(file)),
    )
    expect(named).toEqual(['src/trace/calls/sql/table.ts'])
  })

  it('every pinned Python package has the hashes of its files', () => {
    const unlocked = lockedRequirements().flatMap(({ file }) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /^[\w.-]+==/.test(line) && !line.endsWith('\\'))
        .map((line) => `${relative(ROOT, file)}: ${line}`),
    )
    expect(unlocked).toEqual([])
  })

  it('every npm package has the hash of its file, but for optional ones of other systems', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      packages: Record<string, LockedPackage>
    }
    const unlocked = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity)
    expect(unlocked.filter(([, { optional, ...of }]) => !optional || isForLinuxOnX64(of))).toEqual([])
  })

  it('what is awaited is added afterwards: else what others have added meanwhile is lost', () => {
    const adding = sources.filter(
      (file) => /\.(ts|tsx|mjs)$/.test(file) && /[-+*]= \(*await\b/.test(textOf(file)),
    )
    expect(adding).toEqual([])
  })

  it('no file has leftover marks or a barrel', () => {
    const marked = sources.filter(
      (file) => /\b(FIXME|XXX|HACK)\b/.test(textOf(file)) && !file.endsWith('tidy.test.ts'),
    )
    const barrels = sources.filter((file) => /(^|\/)index\.ts$/.test(file))
    expect([...marked, ...barrels]).toEqual([])
  })
})

interface LockedPackage {
  integrity?: string
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

function isForLinuxOnX64({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: LockedPackage): boolean {
  return os.includes('linux') && cpu.includes('x64') && libc.includes('glibc')
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs|py|sql)$/.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      .filter((file) => !/node_modules|\.venv|__pycache__/.test(file))
  } catch {
    return []
  }
}

/** The files of this repository that a file imports. */
function importsOf(file: string): string[] {
  const paths = textOf(file).matchAll(/(?:from |import\()'(\.[^']+)'/g)
  return [...paths].map(([, path = '']) => join(dirname(file), path))
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function linesOf(file: string): string[] {
  return textOf(file).split('\n')
}

function declarationsOf(file: string): string[] {
  const routes = textOf(file).matchAll(/method: '(\w+)',\s*path: (\[[^\]]*\]|'[^']*')/g)
  return [...routes].flatMap(([, method, paths = '']) =>
    [...paths.matchAll(/'([^']+)'/g)].map(([, path]) => `${method} ${path}`),
  )
}
