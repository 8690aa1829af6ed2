/** What the tools that run tests write of them: counts, and what failed. */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { z } from 'zod'
import { ROOT } from './repository.ts'

export interface Failure {
  name: string
  /** What the tool says of it; empty where the name says all. */
  reason: string
}

/** Of the tests of a layer. */
export interface Outcome {
  passed: number
  failed: number
  skipped: number
  failures: readonly Failure[]
}

/** What a layer is that ended without a report. */
const NO_REPORT: Outcome = { passed: 0, failed: 1, skipped: 0, failures: [] }

/** @param status the exit status of the program that wrote the report */
export function readVitest(file: string, status: number): Outcome {
  const report = readReport(file, VitestReport)
  if (report === undefined) return NO_REPORT
  const failures = report.testResults.flatMap(failuresOf)
  return {
    passed: report.numPassedTests,
    failed: failures.length === 0 && status !== 0 ? 1 : failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  }
}

/** What is read of Vitest's report. */
const VitestFile = z.object({
  name: z.string(),
  status: z.string(),
  message: z.string().default(''),
  assertionResults: z.array(
    z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).default([]) }),
  ),
})
const VitestReport = z.object({
  numPassedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(VitestFile),
})

/** The failed tests of a file; of one that could not even be collected, itself. */
function failuresOf({ name, status, message, assertionResults }: z.output<typeof VitestFile>): Failure[] {
  const file = relative(ROOT, name)
  const failed = assertionResults.filter((test) => test.status === 'failed')
  if (failed.length === 0 && status === 'failed') return [{ name: file, reason: message }]
  return failed.map(({ fullName, failureMessages }) => ({
    name: `${file} › ${fullName}`,
    reason: failureMessages.join('\n'),
  }))
}

export function readPlaywright(file: string, status: number): Outcome {
  const report = readReport(file, PlaywrightReport)
  if (report === undefined) return NO_REPORT
  const { stats } = report
  const failed = stats.unexpected + stats.flaky
  return {
    passed: stats.expected,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: stats.skipped,
    failures: report.suites.flatMap(failedSpecsOf),
  }
}

/** What is read of Playwright's report; suites are files, and groups in them. */
interface PlaywrightSuite {
  suites?: PlaywrightSuite[] | undefined
  specs?: z.output<typeof PlaywrightSpec>[] | undefined
}
const PlaywrightSpec = z.object({
  ok: z.boolean(),
  file: z.string(),
  title: z.string(),
  tests: z.array(
    z.object({
      results: z.array(z.object({ error: z.object({ message: z.string().default('') }).optional() })),
    }),
  ),
})
const PlaywrightSuite: z.ZodType<PlaywrightSuite> = z.object({
  suites: z.lazy(() => z.array(PlaywrightSuite)).optional(),
  specs: z.array(PlaywrightSpec).optional(),
})
const PlaywrightReport = z.object({
  stats: z.object({ expected: z.number(), unexpected: z.number(), flaky: z.number(), skipped: z.number() }),
  suites: z.array(PlaywrightSuite),
})

function failedSpecsOf({ suites = [], specs = [] }: PlaywrightSuite): Failure[] {
  const failed = specs
    .filter((spec) => !spec.ok)
    .map(({ file, title, tests }) => ({
      name: `${file} › ${title}`,
      reason: tests.flatMap(({ results }) => results.flatMap(({ error }) => error?.message ?? [])).join('\n'),
    }))
  return [...failed, ...suites.flatMap(failedSpecsOf)]
}

export function readPytest(file: string, status: number): Outcome {
  const report = readText(file)
  const count = (name: string): number =>
    Number(new RegExp(`<testsuite [^>]*\\b${name}="(\\d+)"`).exec(report)?.[1] ?? 0)
  const tests = count('tests')
  if (tests === 0) return NO_REPORT
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  const broken = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*>\s*<(?:failure|error) message="([^"]*)"/g
  return {
    passed: tests - failed - skipped,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped,
    failures: [...report.matchAll(broken)].map(([, module, name, reason = '']) => ({
      name: `${module} › ${name}`,
      reason: unescaped(reason),
    })),
  }
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#10': '\n', amp: '&' }

/** The value of an attribute as pytest writes it. */
function unescaped(value: string): string {
  return value.replaceAll(/&(lt|gt|quot|#10|amp);/g, (entity, name: string) => ENTITIES[name] ?? entity)
}

/** Undefined where a program ended before it wrote its report. */
function readReport<Report>(file: string, schema: z.ZodType<Report>): Report | undefined {
  let report: unknown
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
  return schema.parse(report)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
