/** Shingles: neighbouring tokens as one, "please divide", "divide this", beside the tokens. */
import { checkOrder, countIn, flagIn } from '../arguments.ts'
import { TokenList } from '../bounds.ts'
import type { Arguments, Token, TokenFilter } from '../stage.ts'

const sizeMax = 32

export function shingle(args: Arguments): TokenFilter {
  const min = countIn(args, 'minShingleSize', { min: 2, max: sizeMax, default: 2 })
  const max = countIn(args, 'maxShingleSize', { min: 2, max: sizeMax, default: 2 })
  checkOrder(['minShingleSize', min], ['maxShingleSize', max])
  const outputUnigrams = flagIn(args, 'outputUnigrams', true)
  const orUnigrams = flagIn(args, 'outputUnigramsIfNoShingles', false)
  const separator = args.get('tokenSeparator') ?? ' '
  const filler = args.get('fillerToken') ?? '_'

  return (tokens) => {
    const places = withGaps(tokens, max)
    const withUnigrams = outputUnigrams || (orUnigrams && places.length < min)
    const list = new TokenList()
    for (const [start, token] of places.entries()) {
      let step = 1
      const add = (text: string, kind: Token['kind'], keyword: boolean) => {
        list.add({ text, kind, keyword, step })
        step = 0
      }
      if (withUnigrams && token) add(token.text, token.kind, token.keyword)
      for (let size = min; size <= max && start + size <= places.length; size++) {
        const joined = places.slice(start, start + size)
        if (joined.every((one) => one === undefined)) continue
        const texts = joined.map((one) => one?.text ?? filler)
        add(texts.join(separator), 'shingle', false)
      }
    }
    return list.tokens
  }
}

/** Tokens, and undefined for places that are empty, as far as a shingle can reach. */
function withGaps(tokens: readonly Token[], sizeMax: number): (Token | undefined)[] {
  const places: (Token | undefined)[] = []
  for (const token of tokens) {
    const gap = Math.min(token.step - 1, sizeMax - 1)
    for (let i = 0; i < gap; i++) places.push(undefined)
    places.push(token)
  }
  return places
}
