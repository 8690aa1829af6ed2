import EMOJI from 'unicode-emoji-json/data-by-emoji.json' with { type: 'json' }

/** One emoji with its names, as reactions are stored. */
export interface NamedEmoji {
  emoji: string
  /** The CLDR short name as a shortcode, such as `:thumbs_up_dark_skin_tone:`. */
  alias: string
  /** Without skin tones, and in its emoji presentation. */
  detoned: string
  detoned_alias: string
}

const ONE_EMOJI = /^\p{RGI_Emoji}$/v
const TONE = /[\u{1F3FB}-\u{1F3FF}]/gu
const TONE_NAMES = ['light', 'medium-light', 'medium', 'medium-dark', 'dark'].map(
  (name) => `${name} skin tone`,
)
const FIRST_TONE = 0x1f3fb

/** Selects the emoji presentation of a character; people and keyboards leave it out. */
const VARIATION_SELECTOR = '\u{FE0F}'

interface Known {
  emoji: string
  name: string
}

/** Pairs of people are one character without skin tones, but a sequence with two. */
const PAIRS: [string, Known][] = [
  ['🫱‍🫲', { emoji: '🤝', name: 'handshake' }],
  ['🧑‍❤‍🧑', { emoji: '💑', name: 'couple with heart: person, person' }],
  ['🧑‍❤‍💋‍🧑', { emoji: '💏', name: 'kiss: person, person' }],
  ['👩‍🤝‍👩', { emoji: '👭', name: 'women holding hands' }],
  ['👩‍🤝‍👨', { emoji: '👫', name: 'woman and man holding hands' }],
  ['👨‍🤝‍👨', { emoji: '👬', name: 'men holding hands' }],
]

/** Made with the first reaction: at the start of a server it would be a fortieth of the work. */
let knownByText: ReadonlyMap<string, Known> | undefined

/** The names of a text that is exactly one emoji; undefined for any other. */
export function nameEmoji(text: string): NamedEmoji | undefined {
  const toneless = text.replaceAll(TONE, '')
  knownByText ??= new Map([...PAIRS, ...Object.entries(EMOJI).map(known)])
  const base = knownByText.get(bare(toneless))
  const isOne = toneless === text || ONE_EMOJI.test(text) || ONE_EMOJI.test(text + VARIATION_SELECTOR)
  if (base === undefined || !isOne) return undefined
  const tones = [...new Set(text.match(TONE))].map(toneName)
  return {
    emoji: text,
    alias: shortcode(toned(base.name, tones)),
    detoned: base.emoji,
    detoned_alias: shortcode(base.name),
  }
}

function known([emoji, { name, group }]: [string, { name: string; group: string }]): [string, Known] {
  // The shortcode of a country's flag is the country.
  return [bare(emoji), { emoji, name: group === 'Flags' ? name.replace(/^flag /, '') : name }]
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
  return `:${name
    .replaceAll(/[:,“”]/g, '')
    .replaceAll(' - ', '-')
    .replaceAll(' ', '_')}:`
}
