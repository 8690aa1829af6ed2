/** What is wrong with a setting: its name, and a line for the user. */
export type SettingProblem = readonly [name: string, line: string]

/** Settings that the server cannot use. */
class BadSettings extends Error {
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[]) {
    super(`Bad configuration:\n${problems.map(([name, line]) => `  ${name}: ${line}`).join('\n')}`)
    this.problems = problems
  }
}

/** Errors in a setting, one line each. */
export function settingProblem(name: string, ...lines: string[]): Error {
  return badSettings(lines.map((line) => [name, line]))
}

/** Errors in several settings. */
export function badSettings(problems: readonly SettingProblem[]): Error {
  return new BadSettings(problems)
}

/** @throws Error with all of these problems, where there are any */
export function refuseProblems(problems: readonly SettingProblem[]): void {
  if (problems.length > 0) throw badSettings(problems)
}

/** Calls all of these functions, by whose names their values are returned. @throws Error with the problems of all */
export function readAll<Readers extends Record<string, () => unknown>>(
  readers: Readers,
): { [Name in keyof Readers]: ReturnType<Readers[Name]> } {
  // Two readers may read one variable, and find the same.
  const problems = new Map<string, SettingProblem>()
  const values = Object.entries(readers).map(([name, read]) => {
    try {
      return [name, read()]
    } catch (error) {
      if (!(error instanceof BadSettings)) throw error
      for (const problem of error.problems) problems.set(problem.join(': '), problem)
      return []
    }
  })
  refuseProblems([...problems.values()])
  // Each name has what its own reader returned.
  return Object.fromEntries(values) as { [Name in keyof Readers]: ReturnType<Readers[Name]> }
}
