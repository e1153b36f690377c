/**
 * Removes markup from HTML: tags, comments, scripts and styles. Decodes entities. Tags become line
 * breaks, except inline tags.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { fixedLimits } from '../../../limits.ts'
import { Pace, type Steps } from '../../../runtime/steps.ts'
import { entriesIn } from '../arguments.ts'
import type { Arguments, CharFilter } from '../stage.ts'
import { decodeEntity } from './html-entities.ts'

export function* htmlStrip(args: Arguments): Steps<CharFilter> {
  const kept = new Set<string>()
  const pace = new Pace()
  for (const tags of yield* entriesIn(args.get('escapedTags') ?? '')) {
    if (pace.isDue()) yield
    for (const tag of tags.split(/\s+/)) kept.add(tag.toLowerCase())
  }
  return (text, steps) => new Stripper(text, kept, steps).strip()
}

/** Inline tags, which are removed without a replacement. */
const inlineTags: ReadonlySet<string> = new Set([
  ...['a', 'abbr', 'acronym', 'b', 'basefont', 'bdo', 'big', 'cite', 'code', 'dfn', 'em'],
  ...['font', 'i', 'img', 'input', 'kbd', 'label', 'q', 's', 'samp', 'select', 'small'],
  ...['span', 'strike', 'strong', 'sub', 'sup', 'textarea', 'tt', 'u', 'var'],
])

/** Cost of parsing at "<" or "&". */
const markupSteps = 64

class Stripper {
  readonly #text: string
  readonly #keptTags: ReadonlySet<string>
  readonly #steps: StepBudget
  #made = ''
  #at = 0
  /** Strings that do not occur in the rest of the text. They are not searched a second time. */
  readonly #missing = new Set<string>()

  constructor(text: string, keptTags: ReadonlySet<string>, steps: StepBudget) {
    this.#text = text
    this.#keptTags = keptTags
    this.#steps = steps
  }

  strip(): string {
    const text = this.#text
    const markup = /[<&]/g
    for (;;) {
      markup.lastIndex = this.#at
      const start = markup.exec(text)?.index
      if (start === undefined) return this.#made + text.slice(this.#at)
      this.#steps.take(markupSteps)
      this.#made += text.slice(this.#at, start)
      this.#at = start
      const understood = text[start] === '&' ? this.#entity() : this.#markup()
      if (!understood) {
        this.#made += text[start]!
        this.#at++
      }
    }
  }

  #entity(): boolean {
    const entity = decodeEntity(this.#text, this.#at)
    if (entity === undefined) return false
    this.#made += entity.text
    this.#at = entity.end
    return true
  }

  #markup(): boolean {
    const start = this.#at
    if (this.#text.startsWith('<!--', start)) return this.#skipPast('-->', start + 4)
    if (this.#text.startsWith('<![CDATA[', start)) return this.#characterData(start + 9)
    if (/^<[!?][a-z]/i.test(this.#text.slice(start, start + 3)))
      return this.#skipPast('>', start + 2)
    return this.#tag()
  }

  #skipPast(end: string, from: number): boolean {
    if (this.#missing.has(end)) return false
    const found = this.#text.indexOf(end, from)
    if (found < 0) this.#missing.add(end)
    else this.#at = found + end.length
    return found >= 0
  }

  #characterData(from: number): boolean {
    if (!this.#skipPast(']]>', from)) return false
    this.#made += this.#text.slice(from, this.#at - 3)
    return true
  }

  #tag(): boolean {
    const text = this.#text
    const start = this.#at
    const name = nameAt(text, start)
    const end = name === undefined ? undefined : tagEnd(text, start + 1, this.#steps)
    if (name === undefined || end === undefined) return false
    this.#at = end
    if (this.#keptTags.has(name)) {
      this.#made += text.slice(start, end)
      return true
    }
    const opens = text[start + 1] !== '/'
    if (opens && (name === 'script' || name === 'style')) this.#skipContent(name)
    this.#made += inlineTags.has(name) ? '' : '\n'
    return true
  }

  /**
   * Skips the content of an element. Without a closing tag, the content extends to the end of the
   * text.
   */
  #skipContent(name: string): void {
    const close = new RegExp(`</${name}`, 'gi')
    close.lastIndex = this.#at
    const end = close.test(this.#text) ? this.#text.indexOf('>', close.lastIndex) : -1
    this.#at = end < 0 ? this.#text.length : end + 1
  }
}

const tagName = /<\/?([a-z][a-z0-9:_-]{0,63})(?=[\s/>])/iy

function nameAt(text: string, start: number): string | undefined {
  tagName.lastIndex = start
  return tagName.exec(text)?.[1]!.toLowerCase()
}

/** The end of a tag; ignores ">" within quotes. */
function tagEnd(text: string, from: number, steps: StepBudget): number | undefined {
  let quote = ''
  const limit = Math.min(text.length, from + fixedLimits.htmlTagLengthMax)
  // Steps are counted only within quotes, because only an unclosed quote makes a tag long.
  for (let at = from; at < limit; at++) {
    const char = text[at]!
    if (quote !== '') {
      steps.take(1)
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at + 1
    else if (char === '<') return undefined
  }
  return undefined
}
