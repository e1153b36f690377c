/** Random filters on rows, each with its meaning. */
import type { Random } from './random.ts'
import {
  atomIn,
  elementsIn,
  entriesIn,
  hasWords,
  searchedWords,
  type Column,
  type Part,
  type Row,
  type TableOracle,
} from './tables-oracle.ts'
import {
  compareElements,
  identityOf,
  isStruct,
  orInAnotherCase,
  randomElement,
  Raw,
  spellOperand,
  spellVector,
  type Element,
  type ElementType,
  type Json,
  type PrimitiveName,
} from './tables-values.ts'

/** A filter as requests contain it, and its meaning. */
export interface Condition {
  readonly filter: ReadonlyMap<string, Json>
  readonly holds: Holds
  /**
   * The meaning of the filter inside $not. It is not the negation of `holds`: for null, both are
   * false.
   */
  readonly fails: Holds
  /** Whether the filter searches for words. Such a filter is invalid inside $not. */
  readonly hasMatch?: boolean
}

export type Holds = (row: Row) => boolean

export const anything: Condition = {
  filter: new Map(),
  holds: () => true,
  fails: () => false,
}

export class RandomFilters {
  readonly #table: TableOracle
  readonly #random: Random
  readonly #spread: number

  constructor(table: TableOracle, random: Random, spread: number) {
    this.#table = table
    this.#random = random
    this.#spread = spread
  }

  /** A random filter of any kind that a find accepts. */
  any(depth = 0): Condition {
    const random = this.#random
    const kind = random.next()
    if (depth >= 3 || kind < 0.45) return this.#leaf()
    if (kind < 0.55) return besideEachOther(this.#several(depth))
    if (kind < 0.7) return joint('$and', this.#several(depth))
    if (kind < 0.87) return joint('$or', this.#several(depth))
    const inner = this.any(depth + 1)
    return inner.hasMatch ? inner : negated(inner)
  }

  /**
   * A filter on the start of the primary key: on whole partitions or on parts of them. `length`:
   * number of columns of the partition sort. `isOne`: whether each partition column has a single
   * value.
   */
  key(
    length: number,
    options: { readonly isOne: boolean; readonly range: boolean },
  ): Condition {
    const random = this.#random
    const { partitionBy, partitionSort } = this.#table
    const like = this.#someRow()
    const named = partitionBy.map((column) =>
      options.isOne ? this.equal(column, like) : this.#oneOf(column, like),
    )
    for (const [i, { column }] of partitionSort.slice(0, length).entries()) {
      const isLast = i === length - 1
      named.push(
        isLast && options.range
          ? this.#range(column, like)
          : random.chance(0.8)
            ? this.equal(column, like)
            : this.#oneOf(column, like),
      )
    }
    return random.chance(0.8) ? besideEachOther(named) : joint('$and', named)
  }

  /** A filter for exactly the row with this key. */
  exactly(row: Pick<Row, 'cells'>): Condition {
    const keyed: Row = { ...row, wasInserted: true }
    return besideEachOther(
      this.#table.key.map((column) => {
        const cell = row.cells.get(column)
        if (cell?.kind !== 'vector') return this.equal(column, keyed)
        const written = spellVector(cell.numbers, this.#random)
        return { ...anything, filter: new Map([[column.name, written]]) }
      }),
    )
  }

  equal(column: Column, like: Row | undefined): Condition {
    const operand = this.#operand(column, like)
    const written = spellOperand(operand, this.#random)
    const json = this.#random.chance(0.7) ? written : new Map([['$eq', written]])
    return this.#scalar(column, json, (order) => order.equals(operand))
  }

  #oneOf(column: Column, like: Row | undefined): Condition {
    const operands = this.#random.list(1, 3, () =>
      this.#operand(column, this.#random.chance(0.5) ? like : this.#someRow()),
    )
    const json = new Map([['$in', operands.map((one) => spellOperand(one, this.#random))]])
    return this.#scalar(column, json, (order) => operands.some((one) => order.equals(one)))
  }

  #range(column: Column, like: Row | undefined): Condition {
    const random = this.#random
    const json = new Map<string, Json>()
    const tests: ((order: Order) => boolean)[] = []
    const sides = random.pick([
      ['$gt', '$gte'],
      ['$lt', '$lte'],
      ['$gt', '$lte'],
      ['$gte', '$lt'],
    ])
    for (const operator of random.chance(0.5) ? sides.slice(1) : sides) {
      const operand = this.#operand(column, random.chance(0.5) ? like : this.#someRow())
      json.set(operator, spellOperand(operand, random))
      tests.push((order) => ranges[operator as keyof typeof ranges](order.to(operand)))
    }
    return this.#scalar(column, json, (order) => tests.every((test) => test(order)), tests)
  }

  #several(depth: number): Condition[] {
    return this.#random.list(1, 3, () => this.any(depth + 1))
  }

  #leaf(): Condition {
    const filterable = this.#table.columns.filter(({ type }) => isFilterable(type))
    const indexed = filterable.filter((column) =>
      this.#table.indexes.some((index) => index.column === column),
    )
    const isPicky = indexed.length > 0 && this.#random.chance(0.4)
    const column = this.#random.pick(isPicky ? indexed : filterable)
    const { type } = column
    if (this.#table.textIndexOn(column) && this.#random.chance(0.4))
      return this.#match(column)
    switch (type.kind) {
      case 'one':
        return this.#comparison(column)
      case 'list':
      case 'set':
        return this.#members(column, 'value')
      case 'map':
        return this.#members(column, this.#random.pick(['value', 'keys', 'values']))
      case 'vector':
        return anything
    }
  }

  #comparison(column: Column): Condition {
    const random = this.#random
    const like = random.chance(0.6) ? this.#someRow() : undefined
    const { of } = column.type as { of: PrimitiveName }
    const kind = random.integer(0, of === 'duration' ? 4 : 7)
    if (kind === 0 || kind === 1) return this.equal(column, like)
    if (kind === 2) return this.#oneOf(column, like)
    if (kind > 4) return this.#range(column, like)
    const isNot = kind === 3
    const operands = random.list(isNot ? 1 : 0, isNot ? 1 : 3, () =>
      this.#operand(column, random.chance(0.6) ? this.#someRow() : undefined),
    )
    const written = operands.map((operand) => spellOperand(operand, random))
    const json = new Map<string, Json>(isNot ? [['$ne', written[0]!]] : [['$nin', written]])
    return this.#scalar(column, json, (order) => !operands.some((one) => order.equals(one)))
  }

  /**
   * A filter on a column with single values. `tests` are the separate comparisons of the filter,
   * all of which must hold.
   */
  #scalar(
    column: Column,
    json: Json,
    test: (order: Order) => boolean,
    tests: readonly ((order: Order) => boolean)[] = [test],
  ): Condition {
    const order = (row: Row): Order | undefined => {
      const atom = atomIn(row, column)
      if (atom === undefined) return undefined
      const folded = this.#identity(column, 'value', atom.type)
      return {
        to: (other) => compareElements(atom, other, atom.type),
        equals: (other) => folded(atom) === folded(other),
      }
    }
    return {
      filter: new Map([[column.name, json]]),
      holds: (row) => {
        const own = order(row)
        return own !== undefined && test(own)
      },
      fails: (row) => {
        const own = order(row)
        return own !== undefined && tests.some((part) => !part(own))
      },
    }
  }

  #members(column: Column, part: Part): Condition {
    const random = this.#random
    const { type } = column
    const identity = this.#memberIdentity(column, part)
    const membersOf = (row: Row): readonly Member[] => {
      const cell = row.cells.get(column)
      return type.kind === 'map'
        ? entriesIn(cell).map(([key, value]) => ({ key, value }))
        : elementsIn(cell).map((value) => ({ key: undefined, value }))
    }
    const newMember = (): Member => {
      const row = this.#someRow()
      const known = row && membersOf(row)
      if (known && known.length > 0 && random.chance(0.7)) {
        const { key, value } = random.pick(known)
        return {
          key: key && orInAnotherCase(key, random),
          value: orInAnotherCase(value, random),
        }
      }
      const { of } = type as { of: ElementType }
      const key =
        type.kind === 'map' ? randomElement(type.key, random, this.#spread) : undefined
      return { key, value: randomElement(of, random, this.#spread) }
    }
    const spell = ({ key, value }: Member): Json => {
      if (part === 'keys') return spellOperand(key!, random)
      const written = spellOperand(value, random)
      return key === undefined || part === 'values'
        ? written
        : [spellOperand(key, random), written]
    }
    const operator = random.pick(['$in', '$in', '$nin', '$all'])
    const wanted = random.list(operator === '$all' ? 1 : 0, 3, newMember)
    const has = (row: Row) => {
      const own = new Set(membersOf(row).map(identity))
      return wanted.map((member) => own.has(identity(member)))
    }
    const inner = new Map([[operator, wanted.map(spell)]])
    const json = part === 'value' ? inner : new Map([[`$${part}`, inner]])
    const test: Holds = (row) =>
      operator === '$in'
        ? has(row).includes(true)
        : operator === '$nin'
          ? !has(row).includes(true)
          : !has(row).includes(false)
    return {
      filter: new Map([[column.name, json]]),
      holds: test,
      fails: (row) => !test(row),
    }
  }

  #match(column: Column): Condition {
    const words = this.#random.list(1, 2, () => this.#random.pick(searchedWords)).join(' ')
    const { analyzer } = this.#table.textIndexOn(column)!
    const holds: Holds = (row) => {
      const text = atomIn(row, column)?.value
      return text !== undefined && hasWords(text as string, words, analyzer)
    }
    return {
      filter: new Map([[column.name, new Map([['$match', words]])]]),
      holds,
      fails: (row) => !holds(row),
      hasMatch: true,
    }
  }

  /**
   * Returns a function that converts an element to a text. The texts are equal if filters treat the
   * elements as equal.
   */
  #identity(column: Column, part: Part, type: ElementType): (element: Element) => string {
    if (type !== 'text' && type !== 'ascii') return (element) => identityOf(element, type)
    const folded = this.#table.foldingOf(column, part)
    return (element) => (isStruct(element) ? '' : folded(element.value as string))
  }

  #memberIdentity(column: Column, part: Part): (member: Member) => string {
    const { type } = column
    if (type.kind !== 'map') {
      const own = this.#identity(column, part, (type as { of: ElementType }).of)
      return ({ value }) => own(value)
    }
    switch (part) {
      case 'keys': {
        const own = this.#identity(column, part, type.key)
        return ({ key }) => own(key!)
      }
      case 'values': {
        const own = this.#identity(column, part, type.of)
        return ({ value }) => own(value)
      }
      case 'value':
        return ({ key, value }) =>
          JSON.stringify([identityOf(key!, type.key), identityOf(value, type.of)])
    }
  }

  /**
   * An operand for a column: the value of the row, sometimes in another letter case. If the row has
   * none, a random value.
   */
  #operand(column: Column, like: Row | undefined): Element {
    const { of } = column.type as { of: PrimitiveName }
    const known = like && atomIn(like, column)
    if (known === undefined) return randomElement(of, this.#random, this.#spread)
    return this.#table.isKey(column) ? known : orInAnotherCase(known, this.#random)
  }

  #someRow(): Row | undefined {
    const { rows } = this.#table
    return rows.length === 0 ? undefined : this.#random.pick(rows)
  }
}

interface Member {
  readonly key: Element | undefined
  readonly value: Element
}

/** Compares the value of a row with operands. */
interface Order {
  to(other: Element): number
  equals(other: Element): boolean
}

const ranges = {
  $gt: (order: number) => order > 0,
  $gte: (order: number) => order >= 0,
  $lt: (order: number) => order < 0,
  $lte: (order: number) => order <= 0,
}

function isFilterable(type: Column['type']): boolean {
  return type.kind !== 'vector' && (type.kind !== 'one' || typeof type.of === 'string')
}

/** Combines conditions in one object. Uses $and if two of them have a member with the same name. */
export function besideEachOther(conditions: readonly Condition[]): Condition {
  const members = conditions.flatMap(({ filter }) => [...filter])
  const filter = new Map(members)
  const both = joint('$and', conditions)
  return filter.size === members.length ? { ...both, filter } : both
}

function joint(operator: '$and' | '$or', conditions: readonly Condition[]): Condition {
  const every = (test: (condition: Condition) => boolean) => conditions.every(test)
  const some = (test: (condition: Condition) => boolean) => conditions.some(test)
  return {
    filter: new Map([[operator, conditions.map(({ filter }) => filter)]]),
    hasMatch: conditions.some(({ hasMatch }) => hasMatch === true),
    ...(operator === '$and'
      ? {
          holds: (row: Row) => every(({ holds }) => holds(row)),
          fails: (row: Row) => some(({ fails }) => fails(row)),
        }
      : {
          holds: (row: Row) => some(({ holds }) => holds(row)),
          fails: (row: Row) => every(({ fails }) => fails(row)),
        }),
  }
}

function negated({ filter, holds, fails }: Condition): Condition {
  return { filter: new Map([['$not', filter]]), holds: fails, fails: holds }
}

/**
 * A projection that includes or excludes these columns. Sometimes it also names an unknown
 * column. The server ignores unknown columns.
 */
export function projectionOf(
  names: readonly string[],
  includes: boolean,
  random: Random,
): Json {
  const named = random.chance(0.1) ? [...names, 'no such column'] : names
  return new Map(
    named.map((name) => [name, random.chance(0.5) ? includes : new Raw(includes ? 1 : 0)]),
  )
}
