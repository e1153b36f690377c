/** Parsers of the formats in which test collections are published. */
import type { JudgedText } from './sets.ts'

/** A judgement: the grade of a document for a query. */
export interface Judgement {
  readonly query: string
  readonly document: string
  readonly grade: number
}

/** TREC documents: `<DOC><DOCNO>1</DOCNO> text </DOC>`. */
export function parseTrecDocuments(file: string): JudgedText[] {
  return [...file.matchAll(/<DOCNO>\s*(\S+)\s*<\/DOCNO>([^]*?)<\/DOC>/g)].map(
    ([, id, text]) => ({ id: id!, text: inOneLine(text!) }),
  )
}

/** TREC topics: `<num>1</num><title> text </title>`. */
export function parseTrecTopics(file: string): JudgedText[] {
  return [...file.matchAll(/<num>\s*(\S+)\s*<\/num>\s*<title>([^]*?)<\/title>/g)].map(
    ([, id, text]) => ({ id: id!, text: inOneLine(text!).toLowerCase() }),
  )
}

/** Lines of a query, a field to ignore, a document and a grade, separated by spaces. */
export function parseTrecJudgements(file: string): Judgement[] {
  return linesOf(file).map((line) => {
    const [query, , document, grade] = line.trim().split(/\s+/)
    return { query: query!, document: document!, grade: Number(grade) }
  })
}

/** A section of a SMART file, such as Cranfield's: the texts after `.I id`, by their letter. */
export function parseSmart(file: string): ReadonlyMap<string, string>[] {
  return file
    .replaceAll('\r', '')
    .split(/^\.I /m)
    .slice(1)
    .map((section) => {
      const [id, ...parts] = section.split(/^\.([A-Z])\n/m)
      const fields = new Map([['I', id!.trim()]])
      for (let i = 0; i < parts.length; i += 2)
        fields.set(parts[i]!, inOneLine(parts[i + 1]!))
      return fields
    })
}

/** Rows of a CSV file with quoted fields, without the row of names. */
export function parseCsv(file: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of file.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!)
    if (end !== ',') rows.push([])
  }
  return rows.slice(1).filter(({ length }) => length > 1)
}

/** The strings of a printed array of Python, such as `['a b' "c's"]`. */
export function parsePrintedStrings(text: string): string[] {
  return [...text.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map(
    ([, single, double]) => (single ?? double!).replaceAll(/\\(.)/g, '$1'),
  )
}

/** Lines of an id and a text, separated by a tab. */
export function parseTopics(file: string): JudgedText[] {
  return linesOf(file).map((line) => {
    const [id, text] = line.split('\t')
    return { id: id!, text: text! }
  })
}

export function linesOf(file: string): string[] {
  return file.split('\n').filter((line) => line.trim() !== '')
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
