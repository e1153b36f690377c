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
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function request(scope: string) {
  return { family: 'REQUEST', scope } as const
}

export function server(scope: string) {
  return { family: 'SERVER', scope } as const
}
