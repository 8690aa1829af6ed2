import { closest, distance } from 'fastest-levenshtein'
import { refuseProblems, type SettingProblem } from './setting-problems.ts'

/** Names of Heddle's variables begin with it. */
const PREFIX = 'HEDDLE_'

/** Of programs beside the server, which may share its environment: commands, tests and benchmarks. */
const OF_OTHERS = /^HEDDLE_(?:API_KEY|KEY|URL|CHROMIUM|(?:BENCH|FAULT|FUZZ|TEST)_.*)$/

/** What Kubernetes says of services whose names begin with `heddle`. */
const OF_KUBERNETES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT_\d+_.*)$/
const ADDRESS_OF_KUBERNETES = /^(?:tcp|udp|sctp):/

/** A name that takes more changes is another word. */
const CHANGES_MAX = 3

export interface GivenSettings {
  /** The variables that are set: an empty one counts as none. */
  env: NodeJS.ProcessEnv
  /**
   * @throws Error that names the variables of Heddle which nothing has read from `env`, so that no misspelled one is
   * ignored, and those that hold spaces alone, which as a number would be 0
   */
  refuseUnread(): void
}

/** Remembers which variables are read. */
export function givenSettings(environment: NodeJS.ProcessEnv): GivenSettings {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  const read = new Set<string>()
  const env = new Proxy(set, {
    get(target, name) {
      if (typeof name === 'string') read.add(name)
      return Reflect.get(target, name)
    },
  })

  function refuseUnread(): void {
    const known = [...read].filter((name) => name.startsWith(PREFIX))
    const problemOf = (name: string, value: string): string | undefined => {
      if (!read.has(name))
        return isOfOthers(name, value) ? undefined : `is no setting${suggestion(name, known)}`
      return value.trim() === '' ? 'holds spaces alone: give a value, or leave it empty' : undefined
    }
    const problems: SettingProblem[] = []
    for (const [name, value = ''] of Object.entries(set)) {
      const problem = name.startsWith(PREFIX) ? problemOf(name, value) : undefined
      if (problem !== undefined) problems.push([name, problem])
    }
    refuseProblems(problems)
  }

  return { env, refuseUnread }
}

function isOfOthers(name: string, value: string): boolean {
  return OF_OTHERS.test(name) || OF_KUBERNETES.test(name) || ADDRESS_OF_KUBERNETES.test(value)
}

function suggestion(name: string, known: readonly string[]): string {
  const nearest = closest(name, known)
  return distance(name, nearest) > CHANGES_MAX
    ? ': docs/CONFIGURATION.md lists them'
    : `: did you mean ${nearest}?`
}
