/**
 * Matches the program of a pattern by backtracking: follows the first alternative, and returns to
 * the last fork when it fails. Forks are kept on an explicit stack, so their number is not limited
 * by the call stack.
 *
 * If the continuation depends only on the step and the position, a combination that has failed once
 * is not tried again. With this memory the time is at most proportional to text times pattern.
 */
import type { StepBudget } from '../../../caller/analysis-budget.ts'
import { lineEnds, type CharSet } from './char-set.ts'
import type { Edge } from './parse-pattern.ts'
import { isRegular, type Program, type PatternStep } from './program.ts'

/** Starts and ends of groups, in pairs; -1: not matched. The first pair is the whole match. */
export type Slots = Int32Array

/** Kinds of entries on the stack. An entry is a triple: its kind and two operands. */
const restore = -1
const shorten = -2

/** Cost of a step, which takes about 30 ns, as long as two steps of other stages. */
const walkSteps = 2

/** Maximum numbers on the stack, far more than reasonable patterns need. */
const stackMax = 6_000_000

/** Maximum size of the memory of failed choices in 32-bit words: 1 MiB. */
const tried32Max = 262_144

/** Whether all choices at all positions of a text fit into the memory. */
export function canRemember({ choiceCount }: Program, text: string): boolean {
  return (text.length + 1) * Math.ceil(choiceCount / 32) <= tried32Max
}

export class PatternWalk {
  readonly #slots: Slots
  readonly #steps: readonly PatternStep[]
  readonly #text: string
  readonly #count: StepBudget
  readonly #stepCost: number
  readonly #stack: number[] = []
  /** Bits of failed choices, by position; undefined: they are not remembered. */
  readonly #tried: Uint32Array | undefined
  /** 32-bit words per position. */
  readonly #triedWidth: number
  #triedEnd = 0

  constructor(program: Program, text: string, count: StepBudget) {
    this.#slots = new Int32Array(program.slotCount)
    this.#steps = program.steps
    this.#text = text
    this.#count = count
    this.#stepCost = program.stepCost
    this.#triedWidth = Math.ceil(program.choiceCount / 32)
    if (!isRegular(program) || !canRemember(program, text)) return
    this.#tried = new Uint32Array((text.length + 1) * this.#triedWidth)
    count.take(this.#tried.length >> 4)
  }

  /** The match that starts at the position, if any; with `wantedEnd`, only one that ends there. */
  matchAt(start: number, wantedEnd?: number): Slots | undefined {
    this.#slots.fill(-1)
    this.#stack.length = 0
    const end = this.#from(0, start, wantedEnd)
    if (end === undefined) return undefined
    this.#forgetTried(start)
    this.#slots[0] = start
    this.#slots[1] = end
    return this.#slots.slice()
  }

  /** Clears the choices of a successful match, because they did not fail. */
  #forgetTried(start: number): void {
    const width = this.#triedWidth
    this.#tried?.fill(0, start * width, (this.#triedEnd + 1) * width)
    this.#count.take(((this.#triedEnd - start) * width) >> 4)
    this.#triedEnd = start
  }

  /** Whether a choice is made at this position for the first time. */
  #isNew(choice: number, position: number): boolean {
    const tried = this.#tried
    if (tried === undefined) return true
    const at = position * this.#triedWidth + (choice >> 5)
    const bit = 1 << (choice & 31)
    if ((tried[at]! & bit) !== 0) return false
    tried[at]! |= bit
    if (position > this.#triedEnd) this.#triedEnd = position
    return true
  }

  /**
   * Matches the steps from `firstStep` to "done" at this position. Returns the end of the match;
   * undefined: no match.
   */
  #from(firstStep: number, start: number, wantedEnd?: number): number | undefined {
    const base = this.#stack.length
    let at = firstStep
    let position: number | undefined = start
    for (;;) {
      this.#count.take(walkSteps * this.#stepCost)
      const step = this.#steps[at]!
      if (step.op === 'done') {
        if (wantedEnd === undefined || position === wantedEnd) {
          this.#forgetForks(base)
          return position
        }
        position = undefined
      } else {
        position = this.#walk(step, at, position)
        at = this.#next
      }
      if (position === undefined) {
        if (!this.#back(base)) return undefined
        at = this.#next
        position = this.#position
      }
    }
  }

  /** The step to continue with. */
  #next = 0
  /** After backtracking, the position in the text to continue at. */
  #position = 0

  #walk(step: PatternStep, at: number, position: number): number | undefined {
    this.#next = at + 1
    switch (step.op) {
      case 'char':
        return this.#isCharAt(position, step.set) ? this.#after(position) : undefined
      case 'run':
        if (!this.#isNew(step.choice, position)) return undefined
        return this.#run(step, at, position)
      case 'fork':
        if (!this.#isNew(step.choice, position)) return undefined
        this.#push(step.second, position, 0)
        this.#next = step.first
        return position
      case 'jump':
        this.#next = step.to
        return position
      case 'save':
        this.#push(restore, step.slot, this.#slots[step.slot]!)
        this.#slots[step.slot] = position
        return position
      case 'progress':
        return this.#slots[step.slot] === position ? undefined : position
      case 'edge':
        return isEdge(this.#text, position, step.edge) ? position : undefined
      case 'same':
        return this.#same(step.group, step.ignoreCase, position)
      case 'look': {
        const found = step.ahead
          ? this.#from(step.start, position) !== undefined
          : this.#isBehind(step.start, position)
        this.#next = step.next
        return found === step.wanted ? position : undefined
      }
      case 'atomic': {
        const end = this.#from(step.start, position)
        this.#next = step.next
        return end
      }
      case 'done':
        return position
    }
  }

  #run(
    { set, min, max }: PatternStep & { op: 'run' },
    at: number,
    start: number,
  ): number | undefined {
    let position = start
    let shortest = start
    let count = 0
    while (count < max && this.#isCharAt(position, set)) {
      position = this.#after(position)
      if (++count === min) shortest = position
    }
    this.#count.take(count * this.#stepCost)
    if (count < min) return undefined
    if (count > min) this.#push(shorten - at, shortest, position)
    return position
  }

  /**
   * Matches a lookbehind: tries starts from right to left until its content ends at this position.
   */
  #isBehind(firstStep: number, position: number): boolean {
    for (let start = position; start >= 0; start--)
      if (this.#from(firstStep, start, position) !== undefined) return true
    return false
  }

  #same(group: number, ignoreCase: boolean, position: number): number | undefined {
    const start = this.#slots[2 * group]!
    const end = this.#slots[2 * group + 1]!
    if (start < 0 || end < 0) return undefined
    this.#count.take(end - start)
    const wanted = this.#text.slice(start, end)
    const found = this.#text.slice(position, position + wanted.length)
    const isSame =
      found === wanted || (ignoreCase && found.toLowerCase() === wanted.toLowerCase())
    return isSame ? position + wanted.length : undefined
  }

  /**
   * Resumes the last alternative on the stack above `base`. False: there are no more alternatives.
   */
  #back(base: number): boolean {
    const stack = this.#stack
    while (stack.length > base) {
      const second = stack.pop()!
      const first = stack.pop()!
      const what = stack.pop()!
      if (what === restore) {
        this.#slots[first] = second
        continue
      }
      if (what >= 0) {
        this.#next = what
        this.#position = first
        return true
      }
      // The entry belongs to a run of characters. The run gives up its last character.
      const position = second - (this.#isPairBefore(second) ? 2 : 1)
      if (position > first) stack.push(what, first, position)
      this.#next = shorten - what + 1
      this.#position = position
      return true
    }
    return false
  }

  /** Removes the alternatives of an atomic match, but keeps the entries that restore slots. */
  #forgetForks(base: number): void {
    const stack = this.#stack
    let kept = base
    for (let i = base; i < stack.length; i += 3)
      if (stack[i] === restore) {
        stack.copyWithin(kept, i, i + 3)
        kept += 3
      }
    stack.length = kept
  }

  #push(what: number, first: number, second: number): void {
    if (this.#stack.length >= stackMax) this.#count.take(Infinity)
    this.#stack.push(what, first, second)
  }

  #isCharAt(position: number, set: CharSet): boolean {
    return position < this.#text.length && set(this.#text.codePointAt(position)!)
  }

  #after(position: number): number {
    return position + (this.#text.codePointAt(position)! > 0xffff ? 2 : 1)
  }

  #isPairBefore(position: number): boolean {
    return position >= 2 && this.#text.codePointAt(position - 2)! > 0xffff
  }
}

function isEdge(text: string, position: number, edge: Edge): boolean {
  switch (edge) {
    case 'text start':
      return position === 0
    case 'text end':
      return position === text.length
    case 'last line end':
      return /^(?:\r\n|[\n\r\u0085\u2028\u2029])?$/.test(text.slice(position, position + 3))
    case 'line start':
      return position === 0 || lineEnds(text.charCodeAt(position - 1))
    case 'line end':
      return position === text.length || lineEnds(text.charCodeAt(position))
    case 'word edge':
      return isWordAt(text, position) !== isWordBefore(text, position)
    case 'no word edge':
      return isWordAt(text, position) === isWordBefore(text, position)
  }
}

const wordChar = /[\p{L}\p{Nd}\p{M}_]/u

function isWordAt(text: string, position: number): boolean {
  const char = text.codePointAt(position)
  return char !== undefined && wordChar.test(String.fromCodePoint(char))
}

function isWordBefore(text: string, position: number): boolean {
  if (position === 0) return false
  const pair = position >= 2 && text.codePointAt(position - 2)! > 0xffff
  return isWordAt(text, position - (pair ? 2 : 1))
}
