/** Page states that the server issued, sent back unchanged or damaged. */
import type { Hand } from './hand.ts'
import { packValue, unpackList, type Packable } from '../../src/json/packed.ts'
import { commandInput, type CommandInput } from './input.ts'

/** A query with further pages, and its page state. */
interface Unfinished {
  readonly input: CommandInput
  readonly command: string
  readonly fields: object
  readonly state: string
}

/**
 * Maximum number of kept queries. Only the latest are kept, because older ones may refer to targets
 * that no longer exist.
 */
const keptMax = 50

export class PageStates {
  readonly #unfinished: Unfinished[] = []

  get all(): readonly string[] {
    return this.#unfinished.map(({ state }) => state)
  }

  /** Records the page state of a reply, if it has one. */
  learn(input: CommandInput, answer: Buffer): void {
    const state = /"nextPageState":"([\w-]+)"/.exec(answer.toString('latin1'))?.[1]
    if (state === undefined || typeof input.tree !== 'object' || input.tree === null) return
    const [command, fields] = Object.entries(input.tree)[0] as [string, unknown]
    if (typeof fields !== 'object' || fields === null) return
    if (this.#unfinished.length >= keptMax) this.#unfinished.shift()
    this.#unfinished.push({ input, command, fields, state })
  }

  /** The next page of a query, with a state that may be damaged. */
  continue(hand: Hand): CommandInput | undefined {
    if (this.#unfinished.length === 0) return undefined
    const { input, command, fields, state } = hand.pick(this.#unfinished)
    const given = 'options' in fields ? fields.options : {}
    const options = typeof given === 'object' ? given : {}
    const pageState = changed(hand, state)
    const tree = { [command]: { ...fields, options: { ...options, pageState } } }
    return commandInput('page states', input.path, tree, input.headers)
  }
}

/**
 * A page state that the server issued, unchanged or damaged. An invalid one if the server has
 * issued none.
 */
export function somePageState(hand: Hand): unknown {
  if (hand.pageStates.length === 0) return hand.pick(['', 'abc', 'e30', '===='])
  return changed(hand, hand.pick(hand.pageStates))
}

function changed(hand: Hand, state: string): string {
  const { random } = hand
  const bytes = Buffer.from(state, 'base64url')
  switch (random.below(7)) {
    case 0:
      return state
    case 1:
      bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
      return bytes.toString('base64url')
    case 2:
      return state.slice(0, random.below(state.length))
    case 3:
      return `${state}${hand.pick(['=', '!', 'AAAA', '\u0000'])}`
    case 4:
      return changeMembers(state, (members) => {
        members[random.below(members.length)] = hand.pick(strange)
      })
    default:
      return changeMembers(state, (members) => (members[3] = changePlace(hand, members[3])))
  }
}

const strange: readonly unknown[] = [
  0,
  -1,
  1e9,
  '',
  'x',
  null,
  [],
  [[]],
  [[1], []],
  [['x']],
  [{}],
  {},
  'engine',
  'sorted',
  '["n",0]',
  '["n",1e300]',
  '["r","n","AAAA",1]',
  '["r","\u0000","",-1]',
  '["s",[],null]',
  '["s",[[1],[2],[3]],"x"]',
  ...[
    ['n', 0],
    ['n', 1e300],
    ['r', '\u0000', '', -1],
    ['s', [], null],
    ['s', [undefined, [undefined]], 'x'],
    ['s', [1, 2, 3], [undefined]],
  ].map((parts) => `\u0002${packValue(parts).toString('latin1')}`),
  '\u0002\u0009\u00ff\u00ff\u00ff\u007f',
]

function changeMembers(state: string, change: (members: unknown[]) => void): string {
  const members = unpackList(Buffer.from(state, 'base64url').subarray(1), anySize)
  // A state that was already damaged may not be decodable.
  if (members === undefined) return state
  change(members)
  const bytes = packValue(members.map((member) => packable(member)))
  return Buffer.concat([Uint8Array.of(version), bytes]).toString('base64url')
}

/**
 * Format version: the first byte of a page state, and the first character of an engine's
 * position.
 */
const version = 2
const anySize = { depthMax: 1_000, valuesMax: 1_000_000 }

/**
 * Converts a value for the format of page states. The format cannot encode plain objects, so they
 * become empty maps.
 */
function packable(value: unknown): Packable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? new Map(value instanceof Map ? value : [])
    : (value as Packable)
}

/** Changes the position in the state, which is a text of the engine or the values of a sort. */
function changePlace(hand: Hand, place: unknown): unknown {
  const { random } = hand
  if (typeof place === 'string' && place.length > 0 && !random.oneIn(3)) {
    const at = random.below(place.length)
    const character = hand.pick([
      'A',
      '0',
      '9',
      '/',
      '',
      'zz',
      '\u0000',
      '"',
      ']',
      ',',
      '-',
    ])
    return place.slice(0, at) + character + place.slice(at + 1)
  }
  if (Array.isArray(place) && place.length > 0 && !random.oneIn(3))
    return (place as unknown[]).with(random.below(place.length), hand.pick(strange))
  return hand.pick(strange)
}
