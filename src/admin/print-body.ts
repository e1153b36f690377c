/**
 * Bodies of replies as JSON. Lists of roles, users, tokens and databases may be long, so their
 * elements are printed one by one: other requests have their turn in between, and a reply that
 * would be too large is refused as soon as that is known.
 */
import { counted } from '../errors/catalog-entry.ts'
import { Refusal } from './refusal.ts'

/** `pause` is asked between elements: a promise where others have their turn first. */
export async function printBody(
  body: object,
  sizeMax: number,
  pause: () => Promise<void> | undefined,
): Promise<string> {
  const parts: string[] = []
  let size = 0
  const add = (text: string) => {
    size += text.length
    if (size > sizeMax)
      throw new Refusal(
        400,
        `The reply has more than ${counted(sizeMax, 'character')}, the most that --max-reply-size permits`,
      )
    parts.push(text)
  }
  const addList = async (list: readonly unknown[]) => {
    add('[')
    for (const [position, element] of list.entries()) {
      add(`${position === 0 ? '' : ','}${JSON.stringify(element)}`)
      const turn = pause()
      if (turn !== undefined) await turn
    }
    add(']')
  }
  if (Array.isArray(body)) await addList(body as unknown[])
  else {
    let separator = '{'
    for (const [name, value] of Object.entries(body) as [string, unknown][]) {
      if (value === undefined) continue
      add(`${separator}${JSON.stringify(name)}:`)
      if (Array.isArray(value)) await addList(value)
      else add(JSON.stringify(value))
      separator = ','
    }
    add(separator === '{' ? '{}' : '}')
  }
  return parts.join('')
}
