/**
 * Parses JSON text into a tree with source positions. Parsing continues after errors, which are
 * recorded, so that an editor can locate the cursor in unfinished text. Numbers keep their
 * spelling.
 */
export type JsonNode = ObjectNode | ArrayNode | StringNode | NumberNode | WordNode

interface Span {
  readonly from: number
  readonly to: number
}

export interface ObjectNode extends Span {
  readonly kind: 'object'
  readonly members: readonly Member[]
}

export interface Member extends Span {
  readonly key: string
  readonly keyFrom: number
  readonly keyTo: number
  /** The value of the member; undefined while the user has not typed it. */
  readonly value: JsonNode | undefined
}

export interface ArrayNode extends Span {
  readonly kind: 'array'
  readonly elements: readonly JsonNode[]
}

export interface StringNode extends Span {
  readonly kind: 'string'
  readonly value: string
}

export interface NumberNode extends Span {
  readonly kind: 'number'
  /** The number as written in the text. */
  readonly text: string
}

export interface WordNode extends Span {
  readonly kind: 'word'
  readonly value: boolean | null
}

export interface JsonMistake extends Span {
  readonly message: string
}

export interface JsonTree {
  /** The root value; undefined for text without a value. */
  readonly root: JsonNode | undefined
  readonly mistakes: readonly JsonMistake[]
}

/** Parses the whole text. */
export function readTree(text: string): JsonTree {
  const reader = new TreeReader(text)
  return reader.readAll()
}

/** Like readTree, but throws an error for the first mistake in the text. */
export function readWholeTree(text: string): JsonNode {
  const { root, mistakes } = readTree(text)
  const [first] = mistakes
  if (first !== undefined || root === undefined)
    throw new SyntaxError(first?.message ?? 'A value is missing.')
  return root
}

/** The value of a member; undefined when the object has no such member. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  if (node?.kind !== 'object') return undefined
  return node.members.find((member) => member.key === key)?.value
}

/** Maximum nesting. The value exceeds the nesting of any document, and bounds the recursion. */
const depthMax = 200

const words = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

class TreeReader {
  readonly #text: string
  readonly #mistakes: JsonMistake[] = []
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  readAll(): JsonTree {
    const root = this.#readValue()
    this.#skipSpace()
    if (root === undefined && this.#at < this.#text.length)
      this.#note(this.#at, this.#text.length, 'This is not a JSON value.')
    else if (this.#at < this.#text.length)
      this.#note(this.#at, this.#text.length, 'Text follows the end of the value.')
    return { root, mistakes: this.#mistakes }
  }

  #note(from: number, to: number, message: string): void {
    this.#mistakes.push({ from, to: Math.max(from, to), message })
  }

  #skipSpace(): void {
    while (/[ \t\n\r]/.test(this.#text.charAt(this.#at))) this.#at++
  }

  /** Parses a value. If no value starts here, returns undefined and consumes nothing. */
  #readValue(): JsonNode | undefined {
    this.#skipSpace()
    const char = this.#text.charAt(this.#at)
    if (char === '{' || char === '[') {
      if (this.#depth === depthMax) {
        this.#note(this.#at, this.#text.length, 'This is nested too deeply.')
        this.#at = this.#text.length
        return undefined
      }
      this.#depth++
      const node = char === '{' ? this.#readObject() : this.#readArray()
      this.#depth--
      return node
    }
    if (char === '"' || char === "'") return this.#readString()
    if (/[-+.\d]/.test(char)) return this.#readNumber()
    if (/[\w$]/.test(char)) return this.#readWord()
    return undefined
  }

  #readObject(): ObjectNode {
    const from = this.#at
    const seen = new Set<string>()
    const readNew = () => {
      const member = this.#readMember()
      if (member !== undefined && seen.has(member.key))
        this.#note(member.keyFrom, member.keyTo, 'This name occurs twice.')
      if (member !== undefined) seen.add(member.key)
      return member
    }
    const members = this.#readParts('}', readNew, {
      missing: 'A name is missing before this comma.',
      expected: 'Write a name in double quotes here.',
    })
    return { kind: 'object', from, to: this.#at, members }
  }

  #readArray(): ArrayNode {
    const from = this.#at
    const elements = this.#readParts(']', () => this.#readValue(), {
      missing: 'A value is missing before this comma.',
      expected: 'Write a value here.',
    })
    return { kind: 'array', from, to: this.#at, elements }
  }

  /** Parses the comma-separated parts between two brackets, starting at the opening one. */
  #readParts<Part>(
    close: '}' | ']',
    readPart: () => Part | undefined,
    notes: { readonly missing: string; readonly expected: string },
  ): readonly Part[] {
    const from = this.#at++
    const parts: Part[] = []
    let wantsComma = false
    for (;;) {
      this.#skipSpace()
      const at = this.#at
      const char = this.#text.charAt(at)
      if (char === close) {
        if (!wantsComma && parts.length > 0) this.#noteComma()
        this.#at++
        return parts
      }
      if (char === '' || char === '}' || char === ']') {
        this.#note(from, from + 1, `This ${this.#text.charAt(from)} is not closed.`)
        return parts
      }
      if (char === ',') {
        if (!wantsComma) this.#note(at, at + 1, notes.missing)
        wantsComma = false
        this.#at++
        continue
      }
      if (wantsComma) this.#note(at, at + 1, 'A comma is missing before this.')
      const part = readPart()
      wantsComma = part !== undefined
      if (part !== undefined) parts.push(part)
      else {
        this.#note(this.#at, this.#at + 1, notes.expected)
        this.#at++
      }
    }
  }

  #noteComma(): void {
    const at = this.#text.lastIndexOf(',', this.#at)
    this.#note(at, at + 1, 'A value is missing after this comma.')
  }

  #readMember(): Member | undefined {
    const keyFrom = this.#at
    const char = this.#text.charAt(keyFrom)
    let key: string
    if (char === '"' || char === "'") key = this.#readString().value
    else {
      key = /^[\p{L}\p{N}_$.-]+/u.exec(this.#text.slice(keyFrom, keyFrom + 1000))?.[0] ?? ''
      if (key === '') return undefined
      this.#at += key.length
      this.#note(keyFrom, this.#at, 'Names must be in double quotes.')
    }
    const keyTo = this.#at
    this.#skipSpace()
    if (this.#text.charAt(this.#at) !== ':') {
      this.#note(keyFrom, keyTo, 'A colon and a value are missing after this name.')
      return { key, keyFrom, keyTo, from: keyFrom, to: keyTo, value: undefined }
    }
    this.#at++
    const value = this.#readValue()
    if (value === undefined) this.#note(keyFrom, keyTo, 'This name has no value.')
    return { key, keyFrom, keyTo, from: keyFrom, to: this.#at, value }
  }

  #readString(): StringNode {
    const from = this.#at
    const quote = this.#text.charAt(from)
    let at = from + 1
    while (at < this.#text.length) {
      const char = this.#text.charAt(at)
      if (char === quote || char === '\n') break
      at += char === '\\' ? 2 : 1
    }
    const isClosed = this.#text.charAt(at) === quote
    this.#at = Math.min(isClosed ? at + 1 : at, this.#text.length)
    const inner = this.#text.slice(from + 1, isClosed ? at : this.#at)
    if (!isClosed) this.#note(from, this.#at, 'This string is not closed.')
    else if (quote === "'") this.#note(from, this.#at, 'Strings must be in double quotes.')
    return {
      kind: 'string',
      from,
      to: this.#at,
      value: this.#unescape(inner, from + 1, quote === '"' && isClosed),
    }
  }

  /** The decoded string; the raw text when its escapes are invalid. */
  #unescape(inner: string, from: number, isWhole: boolean): string {
    if (!/[\\\p{Cc}]/u.test(inner)) return inner
    try {
      return JSON.parse(`"${inner}"`) as string
    } catch {
      if (isWhole) {
        const bad = /\\(?!["\\/bfnrt]|u[\da-fA-F]{4})|[\u0000-\u001f]/.exec(
          inner.replaceAll(/\\["\\/bfnrt]/g, '__'),
        )
        const at = from + (bad?.index ?? 0)
        this.#note(
          at,
          at + 1,
          'Escape this character: \\n, \\t, \\\\ or \\u and four hexadecimal digits.',
        )
      }
      return inner
    }
  }

  #readNumber(): NumberNode {
    const from = this.#at
    const numeral = /[-+.\w]+/y
    numeral.lastIndex = from
    const text = numeral.exec(this.#text)![0]
    this.#at += text.length
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text))
      this.#note(from, this.#at, 'This is not a JSON number.')
    return { kind: 'number', from, to: this.#at, text }
  }

  #readWord(): WordNode {
    const from = this.#at
    const word = /[\w$]+/y
    word.lastIndex = from
    const text = word.exec(this.#text)![0]
    this.#at += text.length
    const value = words.get(text)
    if (value === undefined)
      this.#note(
        from,
        this.#at,
        'Add double quotes: only true, false, null and numbers have none.',
      )
    return { kind: 'word', from, to: this.#at, value: value ?? null }
  }
}
