import type { TestClient } from '../../tracking/test-client.ts'

export interface TypeRef {
  kind: string
  name: string
  ofType: TypeRef | null
}

export interface Member {
  name: string
  type: TypeRef
}

export interface Field extends Member {
  args: Member[]
}

export interface Type {
  name: string
  kind: string
  fields: Field[] | null
  inputFields: Member[] | null
  enumValues: { name: string }[] | null
  possibleTypes: { name: string }[] | null
}

/** The schema of the W&B API, for tests that make documents of it. */
export interface TestSchema {
  types: ReadonlyMap<string, Type>
  /** The fields of a root; none where there is no such type. */
  fieldsOf(root: 'Query' | 'Mutation'): readonly Field[]
  /** The type itself, without lists and marks of what is never null. */
  innermost(type: TypeRef): Type | undefined
}

/** Reads the schema from a server. */
export async function readSchema(client: TestClient): Promise<TestSchema> {
  const ref = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }'
  const { data } = await client.ask(`{ __schema { types { name kind enumValues { name } possibleTypes { name }
    inputFields { name type { ${ref} } } fields { name args { name type { ${ref} } } type { ${ref} } } } } }`)
  const types = new Map<string, Type>(data.__schema.types.map((type: Type) => [type.name, type]))
  const innermost = (type: TypeRef): Type | undefined =>
    type.ofType == null ? types.get(type.name) : innermost(type.ofType)
  return { types, fieldsOf: (root) => types.get(root)?.fields ?? [], innermost }
}

export function isList(type: TypeRef | null | undefined): boolean {
  return type != null && (type.kind === 'LIST' || isList(type.ofType))
}
