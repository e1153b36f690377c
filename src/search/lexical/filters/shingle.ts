/**
 * Shingles: combines adjacent tokens. "please divide this" becomes "please divide" and "divide
 * this", besides the single tokens.
 */
import { checkOrder, countIn, flagIn } from '../arguments.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'
import { fixedLimits } from '../../../limits.ts'

const { shingleSizeMax } = fixedLimits

export function shingle(args: Arguments): TokenFilter {
  const min = countIn(args, 'minShingleSize', {
    min: 2,
    max: shingleSizeMax,
    default: 2,
  })
  const max = countIn(args, 'maxShingleSize', {
    min: 2,
    max: shingleSizeMax,
    default: 2,
  })
  checkOrder(['minShingleSize', min], ['maxShingleSize', max])
  const outputUnigrams = flagIn(args, 'outputUnigrams', true)
  const orUnigrams = flagIn(args, 'outputUnigramsIfNoShingles', false)
  const separator = args.get('tokenSeparator') ?? ' '
  const filler = args.get('fillerToken') ?? '_'

  return function* (tokens) {
    /** The position where the next shingles start, and the positions that they may extend to. */
    const window: Slot[] = []
    let count = 0
    let withUnigrams = outputUnigrams
    for (const place of slots(tokens, max)) {
      window.push(place)
      count++
      if (window.length < max) continue
      yield* startingWith(window, withUnigrams)
      window.shift()
    }
    withUnigrams ||= orUnigrams && count < min
    for (; window.length > 0; window.shift()) yield* startingWith(window, withUnigrams)
  }

  function* startingWith(window: readonly Slot[], withUnigrams: boolean): Iterable<Token> {
    let step = 1
    const [token] = window
    if (withUnigrams && token) {
      yield { ...token, step }
      step = 0
    }
    for (let size = min; size <= window.length; size++) {
      const joined = window.slice(0, size)
      if (joined.every((one) => one === undefined)) continue
      const text = joined.map((one) => one?.text ?? filler).join(separator)
      yield { text, kind: 'shingle', keyword: false, step }
      step = 0
    }
  }
}

/** A token, or undefined for an empty position. */
type Slot = Token | undefined

/**
 * Tokens and the empty positions between them, at most as many as fit between two words of a
 * shingle.
 */
function* slots(tokens: Iterable<Token>, sizeMax: number): Iterable<Slot> {
  for (const token of tokens) {
    const gap = Math.min(token.step - 1, sizeMax - 1)
    for (let i = 0; i < gap; i++) yield undefined
    yield token
  }
}
