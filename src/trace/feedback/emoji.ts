import EMOJI from 'unicode-emoji-json/data-by-emoji.json' with { type: 'json' }

/** One emoji with its names, as reactions are stored. */
export interface NamedEmoji {
  emoji: string
  /** The CLDR short name as a shortcode, such as `:thumbs_up_dark_skin_tone:`. */
  alias: string
  /** Without skin tones. */
  detoned: string
  detoned_alias: string
}

const ONE_EMOJI = /^\p{RGI_Emoji}$/v
const TONE = /[\u{1F3FB}-\u{1F3FF}]/gu
const TONE_NAMES = ['light', 'medium-light', 'medium', 'medium-dark', 'dark'].map(
  (name) => `${name} skin tone`,
)
const FIRST_TONE = 0x1f3fb

/** Chooses the coloured form of a character; people and keyboards leave it out. */
const VARIATION_SELECTOR = /\u{FE0F}/gu

/** Pairs of people exist as one character without skin tones, but as a sequence with two. */
const PAIRS: [string, string][] = [
  ['🫱‍🫲', 'handshake'],
  ['🧑‍❤‍🧑', 'couple with heart: person, person'],
  ['🧑‍❤‍💋‍🧑', 'kiss: person, person'],
  ['👩‍🤝‍👩', 'women holding hands'],
  ['👩‍🤝‍👨', 'woman and man holding hands'],
  ['👨‍🤝‍👨', 'men holding hands'],
]

const NAMES = new Map([...PAIRS, ...Object.entries(EMOJI).map(nameOf)])

/** The names of a text that is exactly one emoji; undefined for any other. */
export function nameEmoji(text: string): NamedEmoji | undefined {
  const detoned = text.replaceAll(TONE, '')
  const name = NAMES.get(bare(detoned))
  const isOne = ONE_EMOJI.test(text) || (detoned === text && name !== undefined)
  if (!isOne || name === undefined) return undefined
  const tones = [...new Set(text.match(TONE))].map(toneName)
  return { emoji: text, alias: shortcode(toned(name, tones)), detoned, detoned_alias: shortcode(name) }
}

function nameOf([emoji, { name, group }]: [string, { name: string; group: string }]): [string, string] {
  // The shortcode of a country's flag is the country.
  return [bare(emoji), group === 'Flags' ? name.replace(/^flag /, '') : name]
}

function bare(emoji: string): string {
  return emoji.replaceAll(VARIATION_SELECTOR, '')
}

function toneName(tone: string): string {
  return TONE_NAMES[(tone.codePointAt(0) ?? FIRST_TONE) - FIRST_TONE] ?? ''
}

/** CLDR names a person's skin before the hair, and otherwise last. */
function toned(name: string, tones: readonly string[]): string {
  const [, person, hair] = /^(man|woman|person) (bald|beard|\w+ hair)$/.exec(name) ?? []
  return person === undefined || hair === undefined
    ? [name, ...tones].join(' ')
    : [person, ...tones, hair].join(' ')
}

function shortcode(name: string): string {
  return `:${name.replaceAll(/[:,“”]/g, '').replaceAll(' ', '_')}:`
}
