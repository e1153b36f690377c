import type { Deadline } from '../caller.ts'
import { CommaList, type LongText } from '../json/long-text.ts'
import { inTurns, type Steps } from '../steps.ts'

/** JSON texts with commas between them. Others have their turn while there is much to show. */
export async function showAll<T>(
  found: readonly T[],
  showOne: (one: T) => string | Steps<string>,
  deadline: Deadline,
): Promise<LongText> {
  return inTurns(showing(found, showOne), deadline)
}

function* showing<T>(
  found: readonly T[],
  showOne: (one: T) => string | Steps<string>,
): Steps<LongText> {
  const list = new CommaList()
  for (const one of found) {
    const text = showOne(one)
    list.add(typeof text === 'string' ? text : yield* text)
    yield
  }
  return list.text()
}
