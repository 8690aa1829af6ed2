import type { Builtin } from './wire.ts'

/** A part of a text, from `start` up to and without `end`. */
export interface Span {
  start: number
  end: number
}

/** Finds all parts of a text, in order. */
export type Find = (text: string) => Span[]

/**
 * The patterns that every project may use. Each takes time in proportion to the text, whatever it holds: where a search
 * goes back at all, it is by a bounded number of characters.
 */
export const BUILTIN_PATTERNS: { readonly [Name in Builtin]: Find } = {
  payment_card: findCards,
  email: findAddresses,
  secret: findSecrets,
}

const NONE: Span[] = []
const NO_MATCHES: RegExpExecArray[] = []

/** Where a word begins: at no letter before it, but for those of an escape, as in a text within a text. */
const WORD_START = String.raw`(?:(?<![\w-])|(?<=\\[nrt]))`

/** Groups of at least three digits with a space or dash between them, apart from words and fractions of numbers. */
const DIGITS = /(?:(?<![\w.+])|(?<=\\[nrt]))\d{3,}(?:[ -]\d{3,})*(?!\w|\.\d)/g

/** ISO/IEC 7812: numbers of cards have 13 to 19 digits, of which the last one is the check digit. */
const CARD_DIGITS = { least: 13, most: 19 }

/** First digits of the networks that issue payment cards. */
const ISSUERS = /^(?:4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|3(?:0[0-5]|[689])|35|6(?:011|4[4-9]|5|2))/

/** Within a run of digits, numbers begin and end with a group: other numbers may stand beside them. */
function findCards(text: string): Span[] {
  if (text.length < CARD_DIGITS.least) return NONE
  const spans: Span[] = []
  for (const run of text.matchAll(DIGITS)) {
    const groups = [...run[0].matchAll(/\d+/g)]
    for (let first = 0; first < groups.length; ) {
      const last = lastGroupOfCard(groups, first)
      const [from, to] = [groups[first], groups[last ?? first]]
      if (last !== undefined && from !== undefined && to !== undefined)
        spans.push({ start: run.index + from.index, end: run.index + to.index + to[0].length })
      first = (last ?? first) + 1
    }
  }
  return spans
}

/** The last group of the longest card number that begins with a group. */
function lastGroupOfCard(groups: readonly RegExpExecArray[], first: number): number | undefined {
  let digits = ''
  let found: number | undefined
  for (let index = first; index < groups.length && digits.length < CARD_DIGITS.most; index++) {
    digits += groups[index]?.[0] ?? ''
    if (isCard(digits)) found = index
  }
  return found
}

function isCard(digits: string): boolean {
  if (digits.length < CARD_DIGITS.least || digits.length > CARD_DIGITS.most) return false
  return ISSUERS.test(digits) && hasCheckDigit(digits)
}

/** The Luhn algorithm of ISO/IEC 7812-1, annex B. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0
  for (let fromEnd = 0; fromEnd < digits.length; fromEnd++) {
    const digit = Number(digits[digits.length - 1 - fromEnd])
    const doubled = fromEnd % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** RFC 5321: 64 characters before the sign, 255 after it. */
const LOCAL_PART = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}$/u
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}[\p{L}]{2,24}/uy
const LOCAL_CHARS_MAX = 64

function findAddresses(text: string): Span[] {
  let sign = text.indexOf('@')
  if (sign < 0) return NONE
  const spans: Span[] = []
  for (; sign >= 0; sign = text.indexOf('@', sign + 1)) {
    const local = LOCAL_PART.exec(text.slice(Math.max(0, sign - LOCAL_CHARS_MAX), sign))
    DOMAIN.lastIndex = sign + 1
    if (local !== null && DOMAIN.test(text))
      spans.push({ start: sign - local[0].length, end: DOMAIN.lastIndex })
  }
  return spans
}

/**
 * Keys as their services make them. Each begins with letters of its own, at the beginning of a word, and every word is
 * read once.
 */
const KEYS = new RegExp(
  `${WORD_START}(?:${[
    // Amazon Web Services
    '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])',
    // GitHub, GitLab
    'gh[pousr]_[A-Za-z0-9]{36,}',
    'github_pat_[A-Za-z0-9_]{22,}',
    'glpat-[\\w-]{20,}',
    // OpenAI, Anthropic and others that follow them; words of a text have no digits.
    'sk-(?=[A-Za-z_-]*\\d)[\\w-]{20,}',
    // Stripe
    '(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}',
    // Slack
    'x(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,}',
    // Google
    'AIza[\\w-]{35,}',
    'GOCSPX-[\\w-]{20,}',
    'ya29\\.[\\w-]{20,}',
    // Hugging Face, npm, PyPI, Replicate, Groq
    'hf_[A-Za-z0-9]{30,}',
    'npm_[A-Za-z0-9]{36,}',
    'pypi-[\\w-]{50,}',
    'r8_[A-Za-z0-9]{37,}',
    'gsk_[A-Za-z0-9]{40,}',
    // SendGrid, DigitalOcean
    'SG\\.[\\w-]{16,}\\.[\\w-]{32,}',
    'do[opr]_v1_[0-9a-f]{64}',
    // JSON Web Tokens
    'eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]*',
  ].join('|')})`,
  'g',
)

/** Credentials of the header `Authorization`, and of a URL. */
const CREDENTIALS = new RegExp(
  [
    String.raw`(?<=\b(?:[Bb]earer|Basic) )(?=[A-Za-z.~+/_-]*[\d=])[\w.~+/=-]{16,}`,
    String.raw`(?<=:\/\/[^\s/:@"]{0,64}:)[^\s/:@"]{1,256}(?=@)`,
  ].join('|'),
  'g',
)

const BEGIN_KEY = '-----BEGIN '
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----/y
const END_KEY = /-----END [A-Z ]{0,32}PRIVATE KEY-----/g

/** Characters of the shortest of them. */
const KEY_CHARS_MIN = 15

function findSecrets(text: string): Span[] {
  const keys = text.length < KEY_CHARS_MIN ? NO_MATCHES : text.matchAll(KEYS)
  const spans = [...keys, ...credentialsIn(text)].map(({ index, 0: found }) => ({
    start: index,
    end: index + found.length,
  }))
  return text.includes(BEGIN_KEY) ? [...spans, ...privateKeysIn(text)] : spans
}

function credentialsIn(text: string): Iterable<RegExpExecArray> {
  return /[Bb]earer |Basic |:\/\//.test(text) ? text.matchAll(CREDENTIALS) : NO_MATCHES
}

/** A key that was cut off goes to the end of the text. */
function privateKeysIn(text: string): Span[] {
  const spans: Span[] = []
  for (let start = text.indexOf(BEGIN_KEY); start >= 0; ) {
    PRIVATE_KEY.lastIndex = start
    let next = start + 1
    if (PRIVATE_KEY.test(text)) {
      END_KEY.lastIndex = start
      next = END_KEY.test(text) ? END_KEY.lastIndex : text.length
      spans.push({ start, end: next })
    }
    start = text.indexOf(BEGIN_KEY, next)
  }
  return spans
}
