/** What an entry of the catalog is. */

export interface CatalogEntry {
  readonly family: 'REQUEST' | 'SERVER'
  readonly scope: string
  readonly title: string
  readonly code?: string
  readonly status?: number
  readonly body: (variables: never) => string
}

/** A name list as messages print it. */
export function list(names: readonly string[]): string {
  return names.length === 0 ? '[None]' : names.join(', ')
}

/** A noun as it stands in a sentence: "an Array", "a String"; "Null" is a value, not a noun. */
export function withArticle(noun: string): string {
  if (noun === 'Null') return noun
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** How many of something: "1 number", "2 numbers". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** A sentence that follows others, where there is one. */
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

/** A reason, and what its sentence names. */
type ReasonOf<S extends Sentences> = {
  [Name in keyof S]: Parameters<S[Name]> extends [infer V]
    ? V & { readonly reason: Name }
    : { readonly reason: Name }
}[keyof S]

/** For a code with several reasons: the sentence of each. */
export function byReason<S extends Sentences>(
  sentences: S,
): (variables: ReasonOf<S>) => string {
  return (variables) => sentences[variables.reason]!(variables as never)
}
