/** Compiles the tree of a pattern into a flat program, which a matcher executes step by step. */
import { weightOf, type CharSet } from './char-set.ts'
import type { Edge, Node } from './parse-pattern.ts'
import { fixedLimits } from '../../../limits.ts'

export type PatternStep =
  | { readonly op: 'char'; readonly set: CharSet }
  /**
   * Consumes as many characters of a set as possible. If the continuation fails, gives up
   * characters one by one, down to `min`.
   */
  | {
      readonly op: 'run'
      readonly choice: number
      readonly set: CharSet
      readonly min: number
      readonly max: number
    }
  /** Continues at `first`; if that fails, at `second`. */
  | { readonly op: 'fork'; readonly choice: number; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'save'; readonly slot: number }
  /** Fails if nothing was consumed since the slot was saved, which ends empty loops. */
  | { readonly op: 'progress'; readonly slot: number }
  | { readonly op: 'edge'; readonly edge: Edge }
  | { readonly op: 'same'; readonly group: number; readonly ignoreCase: boolean }
  | {
      readonly op: 'look'
      readonly start: number
      readonly ahead: boolean
      readonly wanted: boolean
      next: number
    }
  | { readonly op: 'atomic'; readonly start: number; next: number }
  | { readonly op: 'done' }

export interface Program {
  readonly steps: readonly PatternStep[]
  /** Positions that the matcher stores: two per group, then one per loop. */
  readonly slotCount: number
  /** Number of steps with alternatives; each of them has a number. */
  readonly choiceCount: number
  /** Maximum cost of a step, relative to a test of one simple set. */
  readonly stepCost: number
}

/** Whether the continuation of a step depends only on its position, not on how it was reached. */
export function isRegular({ steps }: Program): boolean {
  return steps.every(({ op }) => op !== 'same' && op !== 'look' && op !== 'atomic')
}

/**
 * How repeated characters are compiled: always as runs, which are fast; as runs only if their
 * number is bounded, so that no part of the text is visited twice; or never as runs.
 */
export type Runs = 'all runs' | 'bounded runs' | 'no runs'

export function compile(root: Node, groupCount: number, runs: Runs = 'all runs'): Program {
  const steps: PatternStep[] = []
  let slotCount = 2 * (groupCount + 1)
  let choiceCount = 0

  function add<Added extends PatternStep>(step: Added): Added {
    if (steps.length >= fixedLimits.patternStepsMax)
      throw new SyntaxError(
        `its repetition counts expand it to more than ${fixedLimits.patternStepsMax} steps`,
      )
    steps.push(step)
    return step
  }

  function write(node: Node): void {
    switch (node.kind) {
      case 'char':
        add({ op: 'char', set: node.set })
        return
      case 'sequence':
        node.of.forEach(write)
        return
      case 'choice':
        writeChoice(node.of)
        return
      case 'repeat':
        writeRepeat(node)
        return
      case 'group':
        add({ op: 'save', slot: 2 * node.number })
        write(node.of)
        add({ op: 'save', slot: 2 * node.number + 1 })
        return
      case 'atomic':
        writeApart(add({ op: 'atomic', start: steps.length + 1, next: 0 }), node.of)
        return
      case 'look': {
        const { ahead, wanted } = node
        const start = steps.length + 1
        writeApart(add({ op: 'look', start, ahead, wanted, next: 0 }), node.of)
        return
      }
      case 'edge':
        add({ op: 'edge', edge: node.edge })
        return
      case 'same':
        add({ op: 'same', group: node.group, ignoreCase: node.ignoreCase })
    }
  }

  function writeApart(step: { next: number }, content: Node): void {
    write(content)
    add({ op: 'done' })
    step.next = steps.length
  }

  function writeChoice(ways: readonly Node[]): void {
    const ends: { to: number }[] = []
    for (const [i, way] of ways.entries()) {
      const last = i === ways.length - 1
      const fork = last ? undefined : newFork()
      if (fork) fork.first = steps.length
      write(way)
      if (!last) ends.push(add({ op: 'jump', to: 0 }))
      if (fork) fork.second = steps.length
    }
    for (const end of ends) end.to = steps.length
  }

  function writeRepeat({ of, min, max, lazy }: Node & { kind: 'repeat' }): void {
    const bounded = runs === 'bounded runs' && max === Infinity ? min : max
    if (of.kind === 'char' && !lazy && runs !== 'no runs') {
      if (bounded > 0)
        add({ op: 'run', choice: choiceCount++, set: of.set, min, max: bounded })
      if (bounded < max) writeLoop(of, lazy)
      return
    }
    for (let i = 0; i < min; i++) write(of)
    if (max === Infinity) {
      writeLoop(of, lazy)
      return
    }
    const skips: (() => void)[] = []
    for (let i = min; i < max; i++) {
      skips.push(writeFork(lazy))
      write(of)
    }
    for (const skip of skips) skip()
  }

  function writeLoop(of: Node, lazy: boolean): void {
    const start = steps.length
    const leave = writeFork(lazy)
    // A single character always consumes text, so its loop needs no check of progress.
    const slot = of.kind === 'char' ? undefined : slotCount++
    if (slot !== undefined) add({ op: 'save', slot })
    write(of)
    if (slot !== undefined) add({ op: 'progress', slot })
    add({ op: 'jump', to: start })
    leave()
  }

  function newFork() {
    return add({ op: 'fork', choice: choiceCount++, first: 0, second: 0 })
  }

  /**
   * Writes a fork. One alternative continues at the step that is written next, the other at the
   * step that is written after the returned function was called.
   */
  function writeFork(lazy: boolean): () => void {
    const fork = newFork()
    const into = steps.length
    return () => {
      fork.first = lazy ? steps.length : into
      fork.second = lazy ? into : steps.length
    }
  }

  write(root)
  add({ op: 'done' })
  return { steps, slotCount, choiceCount, stepCost: stepCostOf(steps) }
}

/** Number of sets that can be tested in the time of any other step. */
const setsPerStep = 4

function stepCostOf(steps: readonly PatternStep[]): number {
  let weight = 1
  for (const step of steps) if ('set' in step) weight = Math.max(weight, weightOf(step.set))
  return Math.ceil(weight / setsPerStep)
}
