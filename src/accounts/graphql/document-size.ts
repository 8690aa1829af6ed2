import { type ASTVisitor, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql'

/**
 * Fields that one document asks for, those of a fragment wherever it is spread. Clients ask for up to 63.
 * Introspection, which is not counted while it is answered, multiplies each by the types or fields of the schema: 1,000
 * made 6 MB.
 */
const FIELDS_ASKED_MAX = 500

/** A rule of validation: fragments within fragments do not multiply what a short document asks for. */
export function boundSize(context: ValidationContext): ASTVisitor {
  const sizes = new Map<string, number>()

  function sizeOf({ selections }: SelectionSetNode): number {
    let size = 0
    for (const selection of selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) size += sizeOfFragment(selection.name.value)
      else size += (selection.kind === Kind.FIELD ? 1 : 0) + sizeOfInner(selection.selectionSet)
    }
    return size
  }

  const sizeOfInner = (inner: SelectionSetNode | undefined): number =>
    inner === undefined ? 0 : sizeOf(inner)

  function sizeOfFragment(name: string): number {
    const known = sizes.get(name)
    if (known !== undefined) return known
    // One that spreads itself is refused by another rule.
    sizes.set(name, 0)
    const size = sizeOfInner(context.getFragment(name)?.selectionSet)
    sizes.set(name, size)
    return size
  }

  return {
    OperationDefinition({ selectionSet }) {
      if (sizeOf(selectionSet) > FIELDS_ASKED_MAX)
        context.reportError(
          new GraphQLError(`A document may ask for ${FIELDS_ASKED_MAX} fields, with those of its fragments`),
        )
    },
  }
}
