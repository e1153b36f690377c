/**
 * Splits code into coloured parts. One pattern serves all languages of the console: they have the same
 * strings, comments and numbers, and few different words.
 */

export interface CodePart {
  readonly text: string
  /** Class of the style sheet; undefined for plain text. */
  readonly kind: 'string' | 'number' | 'word' | 'comment' | undefined
}

const words = [
  ...[
    'async',
    'await',
    'class',
    'const',
    'curl',
    'def',
    'export',
    'false',
    'False',
    'final',
  ],
  ...[
    'for',
    'from',
    'function',
    'if',
    'import',
    'in',
    'let',
    'new',
    'None',
    'null',
    'public',
  ],
  ...[
    'return',
    'static',
    'String',
    'throws',
    'true',
    'True',
    'type',
    'var',
    'void',
    'while',
  ],
]

const pattern = new RegExp(
  [
    String.raw`(?<comment>(?:^|(?<=\s))(?://|#)[^\n]*)`,
    String.raw`(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*')`,
    String.raw`(?<number>\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)`,
    String.raw`(?<word>\b(?:${words.join('|')})\b)`,
  ].join('|'),
  'gm',
)

/** Maximum length of code that is coloured, in characters. */
const lengthMax = 200_000

export function splitCode(code: string): readonly CodePart[] {
  if (code.length > lengthMax) return [{ text: code, kind: undefined }]
  const parts: CodePart[] = []
  let end = 0
  for (const found of code.matchAll(pattern)) {
    if (found.index > end)
      parts.push({ text: code.slice(end, found.index), kind: undefined })
    const [kind] = Object.entries(found.groups!).find(([, text]) => text !== undefined)!
    parts.push({ text: found[0], kind: kind as CodePart['kind'] })
    end = found.index + found[0].length
  }
  if (end < code.length) parts.push({ text: code.slice(end), kind: undefined })
  return parts
}
