import { expect } from 'vitest'
import { type FieldCases, textOf, unsupported } from './field-case.ts'

const BESIDE = { structured_outputs: { regex: 'a' } }

/** Constraints under the names that older clients write. */
export const guidedCases: FieldCases = {
  guided_json: {
    async effect(ask) {
      expect(await textOf(ask({ guided_json: { type: 'integer' } }))).toMatch(/^-?\d+$/)
    },
    refused: [
      [7, 422, /./],
      [{ type: 'integer' }, 400, /either structured_outputs/, BESIDE],
    ],
  },
  guided_regex: {
    async effect(ask) {
      expect(await textOf(ask({ guided_regex: '[abc]{3}' }))).toMatch(/^[abc]{3}$/)
    },
    refused: [
      ['[', 400, /regex/],
      ['a', 400, /only use one/, { guided_choice: ['b'] }],
    ],
  },
  guided_choice: {
    async effect(ask) {
      expect(['red', 'blue']).toContain(await textOf(ask({ guided_choice: ['red', 'blue'] })))
      expect(await textOf(ask({ guided_choice: null }))).toBe(await textOf(ask({})))
    },
    refused: [['red', 422, /list/]],
  },
  guided_grammar: {
    async effect(ask) {
      expect(await textOf(ask({ guided_grammar: 'root ::= "yes" | "no"' }))).toMatch(/^(yes|no)$/)
    },
    refused: [['root ::= root', 400, /constraint/]],
  },
  ...unsupported('guided_whitespace_pattern', null, ' '),
  ...unsupported('guided_decoding_backend', null, 'outlines'),
}
