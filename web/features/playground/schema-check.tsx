import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../components/status.tsx'

/** Whether an answer follows the schema that was requested, and where it does not. */
export function SchemaCheck({ schema, text }: { schema: string; text: string }) {
  const { data } = useQuery({
    queryKey: ['schema-check', schema, text],
    queryFn: () => problemsOf(schema, text),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data === undefined) return null
  if (data.length === 0) return <Badge>follows the schema</Badge>
  return (
    <ul aria-label="Against the schema" className="rounded-md bg-warn-soft px-2 py-1 text-2xs text-warn">
      {data.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  )
}

/** Problems that are worth showing at once. */
const PROBLEMS_MAX = 5

async function problemsOf(schema: string, text: string): Promise<string[]> {
  const { Validator } = await import('@cfworker/json-schema')
  try {
    const validator = new Validator(JSON.parse(schema), '2020-12', false)
    const { errors } = validator.validate(JSON.parse(text))
    const leaves = errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items')
    return leaves
      .slice(0, PROBLEMS_MAX)
      .map(({ instanceLocation, error }) => `${instanceLocation.replace('#', '') || 'the answer'}: ${error}`)
  } catch (error) {
    return [`not JSON: ${error instanceof Error ? error.message : 'unreadable'}`]
  }
}
