/**
 * Prints replies as JSON. Lists of roles, users, tokens and databases may be long. They are printed
 * element by element, so that other requests run in between and a reply that exceeds the limit is
 * rejected early.
 */
import { counted } from '../errors/catalog-entry.ts'
import { Refusal } from './refusal.ts'

/**
 * Prints a body; throws when it has more than `sizeMax` characters. `pause` is called between
 * elements, and returns a promise when other requests should run first.
 */
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
        `The reply has more than ${counted(sizeMax, 'character')}, the maximum set ` +
          'by --max-reply-size',
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
