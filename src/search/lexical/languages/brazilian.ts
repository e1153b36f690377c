/**
 * Portuguese with Brazilian typing habits: removes accents first, which unifies words with and
 * without them. The further steps are those of Snowball's Portuguese.
 */
import { endingTable, longestEnding } from './endings.ts'
import { rewriting } from './letters.ts'
import { afterRoot, syllables } from './regions.ts'

export function brazilianStem(text: string): string {
  const word = withoutAccents(text)
  const regions: Regions = { ...syllables(word, vowels), rv: afterRoot(word, vowels) }
  const derived = cutDerivation(word, regions)
  const shorter = derived === word ? cutVerb(word, regions) : derived
  const stem =
    shorter === word ? cutLast(word, regions.rv) : cutSilentI(shorter, regions.rv)
  return cutFinalE(stem, regions.rv)
}

interface Regions {
  readonly r1: number
  readonly r2: number
  readonly rv: number
}

/** Region and replacement of an ending, and a suffix that may also be removed before it. */
interface EndingRule {
  readonly in: keyof Regions
  readonly by?: string
  readonly also?: RegExp
}

const vowels = 'aeiou'
const withoutAccents = rewriting('áàâã:a éê:e í:i óôõ:o úü:u ç:c ñ:n')

const derivations = longestEnding(
  endingTable<EndingRule>(
    [
      `eza ezas ico ica icos icas ismo ismos avel ivel ista istas oso osa osos osas amento
       amentos imento imentos ador adora adores adoras acao acoes ante antes ancia`,
      { in: 'r2' },
    ],
    ['logia logias', { in: 'r2', by: 'log' }],
    ['ucao ucoes', { in: 'r2', by: 'u' }],
    ['encia encias', { in: 'r2', by: 'ente' }],
    ['amente', { in: 'r1', also: /(?:ativ|iv|os|ic|ad)$/ }],
    ['mente', { in: 'r2', also: /(?:ante|avel|ivel)$/ }],
    ['idade idades', { in: 'r2', also: /(?:abil|ic|iv)$/ }],
    ['iva ivo ivas ivos', { in: 'r2', also: /at$/ }],
  ),
)

/** Endings of verbs: first those that follow each theme vowel (a, e or i), then all others. */
const verbEndings = longestEnding(
  endingTable([
    [
      ...['a', 'e', 'i'].flatMap((theme) =>
        ['r', 'ra', 'ram', 'ramos', 'rao', 'ras', 'rdes', 'rei', 'reis', 'rem', 'remos']
          .concat(['res', 'ria', 'riam', 'riamos', 'rias', 'rieis', 'rmos', 'sse', 'sseis'])
          .concat(['ssem', 'ssemos', 'sses', 'ste', 'stes', 'mos', 'ndo'])
          .map((ending) => theme + ending),
      ),
      'ada ida adas idas ado ido ados idos ava avam avas avamos aveis',
      'ia iam ias iamos ieis ei am em as es is ais eis eu iu ou',
    ].join(' '),
    'cut',
  ]),
)

function cutDerivation(word: string, regions: Regions): string {
  if (/eiras?$/.test(word) && word.length - regions.rv >= 3)
    return word.replace(/ras?$/, 'r')
  const found = derivations(word)
  if (found === undefined || found.start < regions[found.action.in]) return word
  const { by = '', also } = found.action
  const stem = word.slice(0, found.start)
  const before = also?.exec(stem)
  return before !== null && before !== undefined && before.index >= regions.r2
    ? stem.slice(0, before.index)
    : stem + by
}

function cutVerb(word: string, { rv }: Regions): string {
  const found = verbEndings(word, rv)
  return found === undefined ? word : word.slice(0, found.start)
}

function cutSilentI(word: string, rv: number): string {
  return word.endsWith('ci') && word.length > rv ? word.slice(0, -1) : word
}

function cutLast(word: string, rv: number): string {
  const ending = /(?:os|[aio])$/.exec(word)
  return ending !== null && ending.index >= rv ? word.slice(0, ending.index) : word
}

function cutFinalE(word: string, rv: number): string {
  if (!word.endsWith('e') || word.length <= rv) return word
  const stem = word.slice(0, -1)
  return /(?:gu|ci)$/.test(stem) && stem.length > rv ? stem.slice(0, -1) : stem
}
