/** The named entities of HTML 4. */

/** Names of consecutive characters, the first of which is U+00A0. */
const latin = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg
  macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12
  frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml
  Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave
  Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil
  egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde
  ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`

const others: readonly (readonly [names: string, chars: string])[] = [
  ['quot amp lt gt apos', '"&<>\''],
  ['OElig oelig Scaron scaron Yuml fnof circ tilde', 'ŒœŠšŸƒˆ˜'],
  ['Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa', 'ΑΒΓΔΕΖΗΘΙΚ'],
  ['Lambda Mu Nu Xi Omicron Pi Rho Sigma Tau Upsilon Phi Chi Psi Omega', 'ΛΜΝΞΟΠΡΣΤΥΦΧΨΩ'],
  ['alpha beta gamma delta epsilon zeta eta theta iota kappa', 'αβγδεζηθικ'],
  ['lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon', 'λμνξοπρςστυ'],
  ['phi chi psi omega thetasym upsih piv', 'φχψωϑϒϖ'],
  ['ensp emsp thinsp zwnj zwj lrm rlm', '\u2002\u2003\u2009\u200c\u200d\u200e\u200f'],
  ['ndash mdash lsquo rsquo sbquo ldquo rdquo bdquo', '–—‘’‚“”„'],
  ['dagger Dagger bull hellip permil prime Prime lsaquo rsaquo', '†‡•…‰′″‹›'],
  ['oline frasl euro image weierp real trade alefsym', '‾⁄€ℑ℘ℜ™ℵ'],
  ['larr uarr rarr darr harr crarr lArr uArr rArr dArr hArr', '←↑→↓↔↵⇐⇑⇒⇓⇔'],
  ['forall part exist empty nabla isin notin ni prod sum', '∀∂∃∅∇∈∉∋∏∑'],
  ['minus lowast radic prop infin ang and or cap cup int', '−∗√∝∞∠∧∨∩∪∫'],
  ['there4 sim cong asymp ne equiv le ge sub sup nsub sube supe', '∴∼≅≈≠≡≤≥⊂⊃⊄⊆⊇'],
  ['oplus otimes perp sdot lceil rceil lfloor rfloor lang rang', '⊕⊗⊥⋅⌈⌉⌊⌋〈〉'],
  ['loz spades clubs hearts diams', '◊♠♣♥♦'],
]

const entities: ReadonlyMap<string, string> = new Map([
  ...latin.split(/\s+/).map((name, i) => [name, String.fromCharCode(0xa0 + i)] as const),
  ...others.flatMap(([names, chars]) => {
    const list = Array.from(chars)
    return names.split(' ').map((name, i) => [name, list[i]!] as const)
  }),
  // Searches treat a non-breaking space as a space.
  ['nbsp', ' '],
])

/** Entities that browsers accept without a semicolon, for old pages. */
const withoutEnd: ReadonlySet<string> = new Set(['amp', 'lt', 'gt', 'quot', 'nbsp'])

const entity = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,9}))(;?)/iy

/** The entity that starts here; undefined: the "&" is literal. */
export function decodeEntity(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  entity.lastIndex = start
  const found = entity.exec(text)
  if (found === null) return undefined
  const [, decimal, hex, name, end] = found
  if (name !== undefined) {
    const char = entities.get(name)
    const isEnded = end === ';' || withoutEnd.has(name)
    return char !== undefined && isEnded ? { text: char, end: entity.lastIndex } : undefined
  }
  const char = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
  if (char === 0 || char > 0x10ffff) return undefined
  return { text: String.fromCodePoint(char), end: entity.lastIndex }
}
