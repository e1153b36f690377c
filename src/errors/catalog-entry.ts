/** Types and text helpers for entries of the error catalog. */

export interface CatalogEntry {
  readonly family: 'REQUEST' | 'SERVER'
  readonly scope: string
  readonly title: string
  readonly code?: string
  readonly status?: number
  readonly body: (variables: never) => string
}

/** Joins names by commas; "[None]" for an empty list. */
export function list(names: readonly string[]): string {
  return names.length === 0 ? '[None]' : names.join(', ')
}

/** The article and the noun: "an Array", "a String". "Null" gets no article. */
export function withArticle(noun: string): string {
  if (noun === 'Null') return noun
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A count with its noun: "1 number", "2 numbers". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** Prefixes a sentence with a space; an empty text stays empty. */
export function sentence(text: string): string {
  return text === '' ? '' : ` ${text.trim()}`
}

export function request(scope: string) {
  return { family: 'REQUEST', scope } as const
}

export function server(scope: string) {
  return { family: 'SERVER', scope } as const
}

type Sentences = Readonly<Record<string, (variables: never) => string>>

/** A reason, with the variables of its sentence. */
type ReasonOf<S extends Sentences> = {
  [Name in keyof S]: Parameters<S[Name]> extends [infer V]
    ? V & { readonly reason: Name }
    : { readonly reason: Name }
}[keyof S]

/** The body of an entry with one sentence per reason. */
export function byReason<S extends Sentences>(
  sentences: S,
): (variables: ReasonOf<S>) => string {
  return (variables) => sentences[variables.reason]!(variables as never)
}
