/** An infinite sequence of inputs, and the frequency of each kind. */
import { Random } from '../faults/random.ts'
import { writeCommand } from './commands.ts'
import { compress } from './compressed.ts'
import { damageBytes, damageTree } from './damage.ts'
import { writeExcess } from './excess.ts'
import { Hand, never, oneIn, type Slipping } from './hand.ts'
import { commandInput, type CommandInput, type Input } from './input.ts'
import type { PageStates } from './page-states.ts'
import { writeRaw } from './raw-http.ts'

export class Inputs {
  readonly #random: Random
  readonly #pageStates: PageStates
  readonly #corpus: readonly CommandInput[]

  constructor(seed: number, pageStates: PageStates, corpus: readonly CommandInput[]) {
    this.#random = new Random(seed)
    this.#pageStates = pageStates
    this.#corpus = corpus
  }

  next(): Input {
    // Each input has a separate random stream, so that a change of one input does not change the
    // others.
    const random = this.#random.fork()
    // Excessive inputs are rare, because each takes as long as hundreds of others.
    if (random.oneIn(150)) return writeExcess(random, this.#sound(random).path)
    switch (random.below(13)) {
      case 0:
      case 1:
        return writeRaw(random, this.#sound(random))
      case 2:
        return this.#damagedBody(random)
      case 3:
      case 4:
        return this.#damagedTree(random)
      case 5:
        return (
          this.#pageStates.continue(this.#hand(random, never)) ?? this.#slippedOnce(random)
        )
      case 6:
      case 7:
      case 8:
        return this.#slippedOnce(random)
      case 9:
        return compress(random, this.#sound(random))
      default: {
        const slips = random.oneIn(4) ? never : oneIn(random.pick([60, 25, 10, 5]), random)
        return writeCommand(this.#hand(random, slips))
      }
    }
  }

  #hand(random: Random, slips: Slipping): Hand {
    return new Hand(random, slips, this.#pageStates.all)
  }

  /**
   * A command with exactly one fault at a random place. The command is generated twice with the
   * same choices. The first time, the places for a fault are counted.
   */
  #slippedOnce(random: Random): CommandInput {
    const seed = random.below(2 ** 32)
    const write = (slips: Slipping) => writeCommand(this.#hand(new Random(seed), slips))
    let places = 0
    write(() => {
      places++
      return false
    })
    let left = random.below(places)
    return { ...write(() => left-- === 0), from: 'one slip' }
  }

  /** A valid command, or a command from the corpus. */
  #sound(random: Random): CommandInput {
    return random.oneIn(4) && this.#corpus.length > 0
      ? random.pick(this.#corpus)
      : writeCommand(this.#hand(random, never))
  }

  #damagedTree(random: Random): CommandInput {
    const { path, tree, headers } = this.#sound(random)
    let damaged = tree
    for (let times = 1 + random.below(3); times > 0; times--)
      damaged = damageTree(damaged, this.#sound(random).tree, random)
    return commandInput('damaged tree', path, damaged, headers)
  }

  #damagedBody(random: Random): CommandInput {
    const { path, body, headers } = this.#sound(random)
    const damaged = damageBytes(body, random)
    return { kind: 'command', from: 'damaged body', path, headers, body: damaged }
  }
}
